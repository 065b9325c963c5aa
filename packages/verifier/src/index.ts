export { VerificationError } from './verification-error.ts';
export type { VerificationErrorCode } from './verification-error.ts';
export { parseKeySet } from './trusted-keys.ts';
export type { TrustedKey, TrustedKeys } from './trusted-keys.ts';
export { verifyReceipt } from './verify-receipt.ts';
export { verifyChain } from './verify-chain.ts';
export { verifyCheckpoint, verifyConsistency, verifyInclusion } from './verify-log.ts';
export { assertRecordHash, verifyRecord } from './verify-record.ts';
export { verifyExport } from './verify-export.ts';
