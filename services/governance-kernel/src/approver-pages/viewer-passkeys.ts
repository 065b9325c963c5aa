import type { AccessKeyRow } from '../access-keys/access-keys.ts';
import type { ApprovalTermsRow } from '../voting/approval-terms.ts';
import type { PasskeyParts } from '../passkeys/passkey-parts.ts';
import { stateOf } from '../passkeys/passkeys.ts';
import type { ViewerPasskeys } from './approval-page.ts';

/** The state of passkeys for the person behind a key. The vote itself is judged again when it comes. */
export async function viewerPasskeys(
  { party, listLiving }: Pick<PasskeyParts, 'party' | 'listLiving'>,
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
