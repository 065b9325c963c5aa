import * as gateway from '@countersign/contracts/gateway';
import { members, type Ask } from './_ask.ts';
import type { Published } from './_published.ts';

/** Calls the routes of invitations and members. */
export async function askMembers(published: Published, ask: Ask, id: string): Promise<void> {
  const invited = async (email: string) => {
    const invite = await ask(gateway.createInvite, { params: { id }, body: { email, role: 'member' } });
    return { params: { token: invite['inviteToken'] ?? '' }, body: { email } };
  };
  const joined = async (email: string) => {
    const { code } = members((await published.ask(gateway.acceptInvite, await invited(email))).body);
    const session = members((await published.ask(gateway.verifyEmailCode, { body: { email, code } })).body);
    return {
      userId: members(session['user'])['id'] ?? '',
      headers: { authorization: `Bearer ${String(session['token'])}` },
    };
  };
  const guest = await joined('guest@example.org');
  await published.ask(gateway.leaveWorkspace, { params: { id }, headers: guest.headers });
  await invited('guest@example.org');
  const again = await ask(gateway.listInvites, { params: { id } });
  const inviteId = again.data[0]?.['id'] ?? '';
  await published.ask(gateway.joinByInvite, { params: { inviteId }, headers: guest.headers });
  const { userId } = await joined('partner@example.org');
  await ask(gateway.putMemberRole, { params: { id, userId }, body: { role: 'partner' } });
  await ask(gateway.removeMember, { params: { id, userId } });
  await invited('late@example.org');
  await ask(gateway.listInvitesToMe);
  const { data } = await ask(gateway.listInvites, { params: { id } });
  await ask(gateway.revokeInvite, { params: { id, inviteId: data[0]?.['id'] ?? '' } });
  await ask(gateway.getMe);
}
