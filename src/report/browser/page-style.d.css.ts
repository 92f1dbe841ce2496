/** The style sheet of the page, as text. */
declare const text: string;
export default text;
