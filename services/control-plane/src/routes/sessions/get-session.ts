import { getSession } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { requireSession } from '../../sessions/require-session.ts';
import { deviceView, identityView, openSessionView, passkeyView, sessionView } from '../../sessions/session-view.ts';
import { listPasskeysOf } from '../../store/passkeys.ts';
import { listIdentitiesOf } from '../../store/provider-identities.ts';
import { listLiveOf } from '../../store/sessions.ts';

export const getSessionRoute = ({ database, config, now }: Context) =>
  handlePerson(getSession)(async ({ caller }) => {
    const session = await requireSession({ database, now }, caller);
    const { userId } = session;
    const [browsers, devices, passkeys, identities] = await Promise.all([
      listLiveOf(database.reader, { userId, kind: 'browser' }, now()),
      listLiveOf(database.reader, { userId, kind: 'device' }, now()),
      listPasskeysOf(database.reader, userId),
      listIdentitiesOf(database.reader, userId),
    ]);
    return {
      ...sessionView(session, config.sessionSecret),
      sessions: browsers.map((each) => ({ ...openSessionView(each), current: each.id === session.id })),
      devices: devices.flatMap(deviceView),
      passkeys: passkeys.map(passkeyView),
      identities: identities.map(identityView),
    };
  });
