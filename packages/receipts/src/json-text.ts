import type {
  ApprovalId,
  BudgetId,
  DecisionId,
  Digest,
  EffectLevel,
  GateName,
  Instant,
  ReasonCode,
  ReceiptId,
  RecordId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import type {
  BoundaryRecord,
  GateOutcome,
  Outcome,
  ReceiptKind,
  ReceiptPayload,
  ShadowVerdict,
  Signature,
} from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalString, CryptoError } from '@countersign/crypto';

/** Values whose schemas exclude all characters that JSON escapes. */
type Plain =
  | ApprovalId
  | BudgetId
  | DecisionId
  | Digest
  | EffectLevel
  | GateName
  | GateOutcome['outcome']
  | Instant
  | NonNullable<BoundaryRecord['dispatched_by']>
  | Outcome
  | ReasonCode
  | ReceiptId
  | ReceiptKind
  | RecordId
  | TenantId
  | ShadowVerdict['lane']
  | NonNullable<ShadowVerdict['fault']>
  | Verdict
  | Signature['alg']
  | (BoundaryRecord | ReceiptPayload)['type'];

/**
 * A value inside a JSON string, without a search for characters to escape. The search would be half the cost of a text,
 * and the schemas of these values exclude such characters. A damaged database may still contain such a character. The
 * text is then invalid or has a member twice, and no verifier accepts it.
 */
export function plain(value: Plain): string {
  if (typeof value !== 'string') throw new CryptoError('NOT_PLAIN_JSON', `${typeof value} is not a string`);
  return value;
}

export function plainOrNull(value: Plain | null): string {
  return value === null ? 'null' : `"${plain(value)}"`;
}

/** A member and a comma, or an empty text. */
export function optionalMember(name: string, value: Plain | undefined): string {
  return value === undefined ? '' : `"${name}":"${plain(value)}",`;
}

/** Like {@link optionalMember}, for a value that callers choose. */
export function optionalText(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${canonicalString(value)},`;
}

export function quotedOrNull(value: string | null): string {
  return value === null ? 'null' : canonicalString(value);
}

export function numberOrNull(value: number | null): string {
  return value === null ? 'null' : canonicalNumber(value);
}

export function truth(value: boolean): string {
  if (typeof value !== 'boolean') throw new CryptoError('NOT_PLAIN_JSON', `${typeof value} is not a boolean`);
  return value ? 'true' : 'false';
}

export function listText<Item>(items: readonly Item[], textOf: (item: Item) => string): string {
  let text = '[';
  let separator = '';
  for (const item of items) {
    text += separator + textOf(item);
    separator = ',';
  }
  return `${text}]`;
}
