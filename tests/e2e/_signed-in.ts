import { signIn, type SignedIn } from './_system.ts';
import { Tab } from './_tab.ts';

/** A person with a token at the gateway, and with a browser. */
export type Person = SignedIn & { tab: Tab; email: string };

/** Signs a person in who has their own workspace. */
export async function personAt(gatewayUrl: string, email: string): Promise<Person> {
  const signedIn = await signIn({ gatewayUrl }, email);
  const tab = new Tab(gatewayUrl);
  await tab.signIn(email);
  return { ...signedIn, tab, email };
}

/** Adds the person to the owner's workspace. */
export async function joined(
  { client, workspaceId }: Person,
  invited: Person,
  role: 'member' | 'partner' | 'owner',
): Promise<Person> {
  const [params, { email }] = [{ id: workspaceId }, invited];
  // An owner cannot be invited. A partner is promoted instead.
  const body = { email, role: role === 'owner' ? ('partner' as const) : role };
  const { inviteToken: token } = (await client.createInvite({ params, body })).body;
  await invited.client.acceptInvite({ params: { token }, body: { email } });
  const { id: userId } = (await invited.client.getMe()).body.user;
  if (role === 'owner') await client.putMemberRole({ params: { ...params, userId }, body: { role } });
  return { ...invited, workspaceId };
}
