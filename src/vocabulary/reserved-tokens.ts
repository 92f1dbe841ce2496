/**
 * The special tokens that fill a vocabulary of `size` tokens to a multiple of `padTo`: matrices of such sizes are multiplied
 * faster, and a model has tokens to spare. They are called as Llama 3's are. A name that the user gave a token is left out.
 */
export function reservedTokens(size: number, padTo: number, specialTokens: readonly string[]): string[] {
  const count = (padTo - (size % padTo)) % padTo;
  const names: string[] = [];
  for (let n = 0; names.length < count; n++) {
    const name = `<|reserved_special_token_${n}|>`;
    if (!specialTokens.includes(name)) names.push(name);
  }
  return names;
}
