import {
  instantOf,
  sha256Of,
  type ApprovalId,
  type PlainJson,
  type PrincipalId,
  type SessionId,
  type TenantId,
} from '@countersign/contracts';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement, type Statement } from '@countersign/receipts';
import type { GroupCommit } from '../../ledger/group-commit.ts';

/** The collaborators for sealing a setting. */
export type SettingDeps = {
  ledger: Pick<GroupCommit, 'submit'>;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type SettingChange = {
  tenant: TenantId;
  session: SessionId;
  by: PrincipalId;
  nowMs: number;
  /** `policy` by default. */
  kind?: 'policy' | 'registry' | 'trust' | 'drift';
  /** The approval that the setting used up. */
  approvalId?: ApprovalId;
  action: `${string}.${string}`;
  resource: string;
  /** The new setting. It becomes the facts of the record. */
  setting: Record<string, PlainJson>;
};

/** A statement about a new setting that decisions depend on. */
export function settingStatement({ provider, newUlid }: SettingDeps, change: SettingChange): Statement {
  const { nowMs, setting, by, kind = 'policy', approvalId = null, ...rest } = change;
  return announcementStatement(provider, {
    ...rest,
    ulid: newUlid(nowMs),
    at: instantOf(nowMs),
    principal: by,
    kind,
    tool: null,
    effectLevel: 'E3',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: sha256Of(provider, canonicalBytes(parsePlainJson(setting))),
    policyHash: null,
    policyEpoch: 0,
    approvalId,
    facts: setting,
  });
}
