import { AppError, PrincipalId, TenantId } from '@countersign/contracts';
import type { ApprovalStatement } from '@countersign/contracts/governance-kernel';
import {
  canonicalBytes,
  decodeBase64Url,
  encodeHex,
  isAcceptablePublicKey,
  type CryptoProvider,
} from '@countersign/crypto';
import { z } from 'zod';
import type { ApprovalRow } from './approval-row.ts';

export type ApproverKey = { tenant: TenantId; principal: PrincipalId; keyId: string; publicKey: Uint8Array };
type SignedStatement = { statement: z.infer<typeof ApprovalStatement>; key_id: string; signature: string };

const ApproverKeys = z.array(
  z.strictObject({
    tenant_id: TenantId,
    principal_id: PrincipalId,
    key_id: z.string().min(1).max(128),
    public_key: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url'),
  }),
);

/**
 * The keys of people who approve by signature (GOV_APPROVER_KEYS). Throws for malformed text and for an unsafe Ed25519
 * key. Throws also when a tenant has a key or a key id twice, since a quorum counts distinct credentials.
 */
export function readApproverKeys(text: string): ApproverKey[] {
  const keys = parseKeys(text).map((key) => ({
    tenant: key.tenant_id,
    principal: key.principal_id,
    keyId: key.key_id,
    publicKey: decodeBase64Url(key.public_key),
  }));
  if (!keys.every(({ publicKey }) => isAcceptablePublicKey(publicKey)))
    throw new Error('it contains a value that is not a safe Ed25519 public key');
  const names = keys.flatMap(({ tenant, keyId, publicKey }) => [
    `${tenant} id ${keyId}`,
    `${tenant} key ${encodeHex(publicKey)}`,
  ]);
  if (new Set(names).size !== names.length) throw new Error('it names a key or a key_id twice in one tenant');
  return keys;
}

function parseKeys(text: string): z.infer<typeof ApproverKeys> {
  try {
    return ApproverKeys.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error('it must be [{ tenant_id, principal_id, key_id, public_key }]', { cause });
  }
}

/** Throws PERMISSION_DENIED unless a key of the named approver in the named tenant signed the statement. */
export function verifyStatement(
  provider: CryptoProvider,
  keys: readonly ApproverKey[],
  { statement, key_id, signature }: SignedStatement,
): void {
  const key = keys.find(({ tenant, keyId }) => tenant === statement.tenant_id && keyId === key_id);
  // An unknown key, a key of another approver and a wrong signature get the same error, which reveals no keys.
  if (
    key === undefined ||
    key.principal !== statement.approver_id ||
    !provider.verifyEd25519(key.publicKey, canonicalBytes(statement), decodeBase64Url(signature))
  )
    throw new AppError('PERMISSION_DENIED', 'No enrolled key of this approver signed the statement');
}

/**
 * Throws PRECONDITION_FAILED unless the signed statement is about this approval with its current hashes. transition()
 * checks the ceremony hash.
 */
export function requireSameSubject(approval: ApprovalRow, { statement }: SignedStatement): void {
  const same =
    statement.approval_id === approval.id &&
    statement.tenant_id === approval.tenant &&
    statement.intent_hash === approval.intentHash &&
    statement.judged_hash === approval.judgedHash &&
    statement.policy_hash === approval.policyHash;
  if (!same)
    throw new AppError(
      'PRECONDITION_FAILED',
      'The signed statement does not match this approval. Sign the current one',
      { param: 'statement' },
    );
}
