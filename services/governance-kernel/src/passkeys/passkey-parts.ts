import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { ChallengeStore } from './challenges.ts';
import type { PasskeyKey, PasskeyRow } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';

/** The dependencies of the ceremonies of passkeys. */
export type PasskeyParts = {
  readonly ledger: Pick<GroupCommit, 'submit'>;
  readonly provider: CryptoProvider;
  readonly clock: () => Date;
  readonly newUlid: (nowMs: number) => string;
  readonly challenges: ChallengeStore;
  /** Null: browsers have no passkeys at the address of this kernel. */
  readonly party: RelyingParty | null;
  /** The same of the console. */
  readonly consoleParty: RelyingParty | null;
  findPasskey(key: PasskeyKey): Promise<PasskeyRow | null>;
  /** Those of a person that were not revoked, newest first. */
  listLiving(owner: { tenant: TenantId; principal: PrincipalId }): Promise<PasskeyRow[]>;
};

/** More than a person has devices, and little enough to name them all to a browser. */
export const passkeysMax = 20;
