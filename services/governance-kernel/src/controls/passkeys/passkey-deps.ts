import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import type { ChallengeStore } from './challenges.ts';
import type { PasskeyKey, PasskeyRow } from './passkeys.ts';
import type { RelyingParty } from './relying-party.ts';

/** The collaborators of passkey ceremonies. */
export type PasskeyDeps = {
  readonly ledger: Pick<GroupCommit, 'submit'>;
  readonly provider: CryptoProvider;
  readonly clock: () => Date;
  readonly newUlid: (nowMs: number) => string;
  readonly challenges: ChallengeStore;
  /**
   * `null` when browsers do not support passkeys at this kernel's address, or the console has a different host name.
   */
  readonly party: RelyingParty | null;
  /** The relying party of the console. */
  readonly consoleParty: RelyingParty | null;
  findPasskey(key: PasskeyKey): Promise<PasskeyRow | null>;
  /** Passkeys of a person that were not revoked, newest first. */
  listLiving(owner: { tenant: TenantId; principal: PrincipalId }): Promise<PasskeyRow[]>;
};

/**
 * The limit of passkeys per person. People have fewer devices, and the options for a browser can list this many
 * passkeys.
 */
export const passkeysMax = 20;
