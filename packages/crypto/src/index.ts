export { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from './base64.ts';
export { concatBytes, equalBytes, utf8Bytes, utf8Text } from './bytes.ts';
export {
  canonicalBytes,
  canonicalNumber,
  canonicalString,
  canonicalize,
  definedMembers,
  parsePlainJson,
  parsePlainObject,
} from './canonical-json.ts';
export { formatCheckpoint, parseCheckpoint } from './checkpoint.ts';
export type { Checkpoint } from './checkpoint.ts';
export { cosignNote, openCosignatures } from './cosignature.ts';
export { CryptoError } from './crypto-error.ts';
export { digestOf } from './digest.ts';
export { isAcceptablePublicKey } from './ed25519.ts';
export { decodeHex, encodeHex } from './hex.ts';
export { jsonDepthMax } from './json-value.ts';
export type { JsonValue } from './json-value.ts';
export { jwkThumbprint, publicKeyFromJwk, publicKeyToJwk } from './jwk.ts';
export type { Ed25519Jwk } from './jwk.ts';
export { keyIdOf } from './key-id.ts';
export { InclusionPaths } from './inclusion-paths.ts';
export type { EncodedInclusionClaim } from './inclusion-paths.ts';
export { consistencyProof, inclusionProof } from './merkle-proof.ts';
export type { NodeReader } from './merkle-proof.ts';
export { emptyFrontier, appendLeaf, emptyRoot, frontierRoot, leafHash, nodeHash, rootOf } from './merkle-tree.ts';
export type { CompletedNode, Frontier } from './merkle-tree.ts';
export { verifyConsistency, verifyInclusion } from './merkle-verify.ts';
export type { ConsistencyClaim, InclusionClaim } from './merkle-verify.ts';
export { cosignerKey, formatCosignerVkey, formatVkey, noteKey, parseCosignerVkey, parseVkey } from './note-key.ts';
export type { NoteKey } from './note-key.ts';
export { portableProvider } from './portable-provider.ts';
export type { CryptoProvider } from './provider.ts';
export { openNote, signNote, splitNote } from './signed-note.ts';
export type { Signer } from './signer.ts';
export { parseStrictJson } from './strict-json.ts';
export { formatTlogProof, parseTlogProof } from './tlog-proof.ts';
export { assertExtends, formatSubmission, openSubmission, SubmissionRefused } from './tlog-witness.ts';
export type { SignedSubmission, TreeHead } from './tlog-witness.ts';
