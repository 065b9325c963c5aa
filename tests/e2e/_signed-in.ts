import { signIn, type SignedIn } from './_system.ts';
import { Tab } from './_tab.ts';

/** A person whom the gateway knows by a token, and who has a browser beside. */
export type Person = SignedIn & { tab: Tab; email: string };

/** Signs a person in who has a workspace of their own. */
export async function personAt(gatewayUrl: string, email: string): Promise<Person> {
  const signedIn = await signIn({ gatewayUrl }, email);
  const tab = new Tab(gatewayUrl);
  await tab.signIn(email);
  return { ...signedIn, tab, email };
}

/** The same person as a member of the owner's workspace. */
export async function joined(
  { client, workspaceId }: Person,
  invited: Person,
  role: 'member' | 'partner' | 'owner',
): Promise<Person> {
  const [params, { email }] = [{ id: workspaceId }, invited];
  // An owner cannot be invited: a partner becomes one.
  const body = { email, role: role === 'owner' ? ('partner' as const) : role };
  const { inviteToken: token } = (await client.createInvite({ params, body })).body;
  await invited.client.acceptInvite({ params: { token }, body: { email } });
  const { id: userId } = (await invited.client.getMe()).body.user;
  if (role === 'owner') await client.putMemberRole({ params: { ...params, userId }, body: { role } });
  return { ...invited, workspaceId };
}
