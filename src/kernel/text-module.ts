// The part of the kernel that a text goes through before it is cut into pretokens, of a memory of its own. It is a module
// apart: few tokenizers change their texts.

export {
  beginNormalization,
  factsOf,
  inputAddress,
  logAddress,
  loggedCount,
  normalize,
  normalizedAddress,
  pendingBytes,
  useNormalization,
} from "./text/normalize";
