import type { AccessKeyRow } from '../../controls/access-keys/access-keys.ts';
import type { ApprovalTermsRow } from '../../controls/voting/approval-terms.ts';
import type { PasskeyDeps } from '../../controls/passkeys/passkey-deps.ts';
import { stateOf } from '../../controls/passkeys/passkeys.ts';
import type { ViewerPasskeys } from './approval-page.ts';

/** The passkey state of the person behind a key. The vote checks this again. */
export async function viewerPasskeys(
  { party, listLiving }: Pick<PasskeyDeps, 'party' | 'listLiving'>,
  { tenant, principal }: AccessKeyRow,
  terms: ApprovalTermsRow | null,
): Promise<ViewerPasskeys> {
  const states = (await listLiving({ tenant, principal })).map(stateOf);
  return {
    areRequired: terms !== null && (terms.passkeysSinceMs !== null || terms.signaturesOnly),
    state: states.includes('active') ? 'active' : (states[0] ?? null),
    areAvailable: party !== null,
    mayBreakGlass: terms?.breakGlass === true,
  };
}
