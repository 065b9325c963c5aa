import { createHmac, timingSafeEqual } from 'node:crypto';
import { storableText } from '@countersign/contracts';
import { z } from 'zod';

/** A web app signs in as soon as it opens, so older init data may be stolen. */
const ageMaxMs = 5 * 60_000;
/** The greatest difference between the clocks of Telegram and of this machine. */
const skewMs = 60_000;

/** The time after which accepted init data would be refused for its age alone. */
export const initDataLifetimeMs = ageMaxMs + skewMs;

const InitDataUser = z.looseObject({
  id: z.int().min(1),
  is_bot: z.literal(false).optional(),
  first_name: storableText({ max: 256 }),
  last_name: storableText({ max: 256 }).optional(),
});

/** The person that Telegram identified. */
type MessengerUser = { messengerId: string; name: string; hash: string };

/**
 * Parses the init data of a Telegram web app (attacker-controlled). It must be signed with the token of the bot and at
 * most five minutes old. `null` for invalid data.
 */
export function readInitData(
  initData: string,
  { botToken, now }: { botToken: string; now: Date },
): MessengerUser | null {
  const pairs = [...new URLSearchParams(initData)];
  const members = new Map(pairs);
  const hash = members.get('hash') ?? '';
  if (!isSigned(pairs, hash, botToken)) return null;
  if (!isFresh(members.get('auth_date') ?? '', now)) return null;
  const user = InitDataUser.safeParse(plain(members.get('user') ?? ''));
  if (!user.success) return null;
  const { id, first_name, last_name = '' } = user.data;
  const name = `${first_name} ${last_name}`.trim();
  return { messengerId: `telegram:${id}`, name: name === '' ? `Telegram ${id}` : name, hash };
}

/**
 * Checks the hash by https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app. Some clients
 * include the member `signature` in the hash.
 */
function isSigned(pairs: readonly [string, string][], hash: string, botToken: string): boolean {
  // Only lower case is accepted, since another spelling of the same hash would count as unused.
  if (!/^[0-9a-f]{64}$/.test(hash)) return false;
  const offered = Buffer.from(hash, 'hex');
  const secret = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const matches = [['hash'], ['hash', 'signature']].map((without) => {
    const signed = pairs.filter(([name]) => !without.includes(name)).map(([name, value]) => `${name}=${value}`);
    return timingSafeEqual(createHmac('sha256', secret).update(signed.sort().join('\n')).digest(), offered);
  });
  return matches.includes(true);
}

function isFresh(authDate: string, now: Date): boolean {
  if (!/^\d{1,12}$/.test(authDate)) return false;
  const ageMs = now.getTime() - Number(authDate) * 1_000;
  return ageMs <= ageMaxMs && ageMs >= -skewMs;
}

function plain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
