import { createHmac, randomInt } from 'node:crypto';

/** A bot token in the format of Telegram. */
export function newBotToken(): string {
  const letters = Array.from({ length: 35 }, () => randomInt(36).toString(36)).join('');
  return `${randomInt(1e9, 1e10)}:${letters}`;
}

/**
 * The data that opens a web app of this bot: https://core.telegram.org/bots/webapps. A person signs in with it without
 * a mail.
 */
export function initDataFrom(botToken: string): string {
  const members = {
    auth_date: String(Math.floor(Date.now() / 1_000)),
    user: JSON.stringify({ id: randomInt(1, 1e9), first_name: 'Bench' }),
  };
  const signed = Object.entries(members).map(([name, value]) => `${name}=${value}`);
  const secret = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', secret).update(signed.sort().join('\n')).digest('hex');
  return new URLSearchParams({ ...members, hash }).toString();
}
