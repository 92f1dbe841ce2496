/** The one script of the page, as text. */
declare const text: string;
export default text;
