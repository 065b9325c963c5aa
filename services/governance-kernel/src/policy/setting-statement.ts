import type { ApprovalId, Digest, Instant, PlainJson, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { canonicalBytes, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement, type Statement } from '@countersign/receipts';
import type { GroupCommit } from '../ledger/group-commit.ts';

/** The dependencies of sealing a setting. */
export type SettingParts = {
  ledger: Pick<GroupCommit, 'submit'>;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Said = {
  tenant: TenantId;
  session: SessionId;
  by: PrincipalId;
  nowMs: number;
  /** `policy` unless it says otherwise. */
  kind?: 'policy' | 'registry' | 'trust' | 'drift';
  /** The approval that the setting used up. */
  approvalId?: ApprovalId;
  action: `${string}.${string}`;
  resource: string;
  /** The new setting, unchanged in the record. */
  setting: Record<string, PlainJson>;
};

/** A statement about a new setting that decisions depend on. */
export function settingStatement({ provider, newUlid }: SettingParts, said: Said): Statement {
  const { nowMs, setting, by, kind = 'policy', approvalId = null, ...rest } = said;
  return announcementStatement(provider, {
    ...rest,
    ulid: newUlid(nowMs),
    at: new Date(nowMs).toISOString() as Instant, // toISOString writes exactly this form
    principal: by,
    kind,
    tool: null,
    effectLevel: 'E3',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: digestOf(provider, canonicalBytes(parsePlainJson(setting))) as Digest, // digestOf writes exactly this form
    policyHash: null,
    policyEpoch: 0,
    approvalId,
    facts: setting,
  });
}
