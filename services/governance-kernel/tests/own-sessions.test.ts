import { expect, it } from '@jest/globals';
import { SessionId } from '@countersign/contracts';
import { assertCallersSession, headsSession, ownSession } from '../src/ledger/own-sessions.ts';

const refused = { code: 'INVALID_REQUEST', param: 'session_id' };
const assertNamed = (name: string) => assertCallersSession(SessionId.parse(name));

it.each(['policy', 'Policy', 'ｐolicy', 'fences', 'heads', 'heads:2026-11-28', 'budgets:mine', 'access-keys'])(
  'a caller cannot use the session %s, which is reserved for records of the kernel',
  (name) => {
    expect(() => assertNamed(name)).toThrow(expect.objectContaining(refused));
  },
);

it.each(['policy-review', 'console:policy', 'my-heads', 'default-ada'])('a caller can use the session %s', (name) => {
  expect(() => assertNamed(name)).not.toThrow();
});

it('all sessions of the kernel are reserved', () => {
  // The text is a valid instant.
  for (const session of [ownSession('relations'), headsSession('2026-11-28T00:00:00.000Z' as never)])
    expect(() => assertCallersSession(session)).toThrow(expect.objectContaining(refused));
});
