import type { AnyRoute } from '@countersign/contracts';
import * as kernel from '@countersign/contracts/governance-kernel';
import { Authenticator } from '@countersign/testkit/authenticator';
import type { Probe } from './_published.ts';

/** Calls a route, and returns the members of the validated answer. */
type Ask = (route: AnyRoute, probe?: Probe) => Promise<Record<string, never>>;
type Site = { publicUrl: string; headersOf(principal: string): Record<string, string>; serviceKey: string };

/** Uses its own tenant, since its first passkey changes what a vote needs. */
export async function askPasskeys(ask: Ask, { publicUrl, headersOf, serviceKey }: Site): Promise<void> {
  const as = (principal: string) => ({ ...headersOf(principal), 'x-gov-tenant-id': 'passkeys' });
  const bearer = { authorization: `Bearer ${serviceKey}` };
  const enrolled = async (principal: string) => {
    const authenticator = new Authenticator(publicUrl);
    const place = { params: { principal }, headers: as(principal) };
    const { challenge = '' } = await ask(kernel.registerPasskey, place);
    await ask(kernel.verifyPasskey, { ...place, body: { attestation: authenticator.create(challenge) } });
    return { authenticator, params: { principal, credential_id: authenticator.id } };
  };
  const anna = await enrolled('anna');
  const [ben, cora] = [await enrolled('ben'), await enrolled('cora')];
  const headers = as('anna');
  const { challenge: voucher = '' } = await ask(kernel.challengeVoucher, { params: ben.params, headers });
  const vouch = { assertion: anna.authenticator.get(voucher) };
  await ask(kernel.vouchForPasskey, { params: ben.params, headers, body: vouch });
  await ask(kernel.acceptPasskey, {
    params: { tenant: 'passkeys', credential_id: cora.params.credential_id },
    body: { reason: 'a drill', accepted_by: 'olga' },
    headers: bearer,
  });
  const question = {
    body: { action: 'tool.call', tool: 'mail.send', session_id: 's1', reason: 'for the customer' },
    headers: as('agent'),
  };
  const { approval_id = '' } = await ask(kernel.createApproval, question);
  const vote = await ask(kernel.challengeApproval, { params: { approval_id }, headers, body: {} });
  const assertion = anna.authenticator.get(vote['challenge'] ?? '');
  const answered = { challenge_id: vote['challenge_id'], assertion };
  await ask(kernel.assertApproval, { params: { approval_id }, headers, body: answered });
  const signIn = await ask(kernel.challengeSignIn, { headers: bearer });
  const { statement, options } = signIn as unknown as { statement: { origin: string }; options: { challenge: string } };
  const signed = anna.authenticator.get(options.challenge, { origin: statement.origin });
  await ask(kernel.assertSignIn, {
    params: { tenant: 'passkeys', credential_id: anna.params.credential_id },
    body: { principal_id: 'anna', statement, assertion: signed },
    headers: bearer,
  });
  await ask(kernel.listPasskeys, { params: { principal: 'anna' }, headers });
  await ask(kernel.revokePasskey, { params: ben.params, headers });
  await ask(kernel.revokeOwnPasskey, {
    params: { tenant: 'passkeys', credential_id: cora.params.credential_id },
    body: { principal_id: 'cora' },
    headers: bearer,
  });
  const terms = { version: 1, signatures_only: true, break_glass: false };
  await ask(kernel.putApprovalTerms, { params: { tenant: 'passkeys' }, body: terms, headers: bearer });
}
