/** The names of the templates in chat-templates.ts, whose texts few commands need. */
export const chatTemplateNames = ["chatml", "gemma", "llama3"] as const;
