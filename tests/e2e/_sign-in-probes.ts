import { createHmac } from 'node:crypto';
import * as gateway from '@countersign/contracts/gateway';
import type { Ask, Body } from './_ask.ts';
import type { Published } from './_published.ts';

export const botToken = '7342037359:AAHI25ES9xCOMPokpYoz-p8XVrZUdygo2J4';

/** Calls the routes of sign-ins other than by mail code, and of sessions and keys. */
export async function askSignIns(published: Published, ask: Ask): Promise<void> {
  const key = await ask(gateway.createApiKey, { body: { name: 'ci' } });
  await ask(gateway.listApiKeys);
  await ask(gateway.revokeApiKey, { params: { id: key['id'] ?? '' } });
  const signedIn = async (id: number) => {
    const { body } = await published.ask(gateway.signInByMessenger, { body: { initData: initDataOf(id) } });
    return { headers: { authorization: `Bearer ${String((body as Body)['token'])}` } };
  };
  const [one, another] = [await signedIn(1), await signedIn(1)];
  const { data } = (await published.ask(gateway.listSessions, one)).body as Body; // validated by its published schema
  const second = data.find((session) => !session['current']);
  await published.ask(gateway.revokeSession, { ...one, params: { id: second?.['id'] ?? '' } });
  await published.ask(gateway.getMe, another);
}

let signed = 0;

function initDataOf(id: number): string {
  const user = JSON.stringify({ id, first_name: 'Grace' });
  const members = { auth_date: String(Math.floor(Date.now() / 1_000)), query_id: String((signed += 1)), user };
  const text = Object.entries(members).map(([name, value]) => `${name}=${value}`);
  const secret = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', secret).update(text.join('\n')).digest('hex');
  return new URLSearchParams({ ...members, hash }).toString();
}
