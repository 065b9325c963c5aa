import { domainOf, type UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishAccessEnded } from '../events.ts';
import type { Tx } from '../store/database.ts';
import { revokeSessionsOf } from '../store/sessions.ts';
import {
  listPeopleOf,
  listRequiringRules,
  lockOlderRule,
  lockSignIns,
  writeRule,
  type PublishedSettings,
  type SignInRule,
} from '../store/sign-in-rules.ts';

type Deps = Pick<Context, 'newEvent' | 'now'>;

/**
 * Stores how people of the verified domains sign in. Where single sign-on becomes required, the sessions of these
 * people end, except those of the break-glass person. Settings that are not newer change nothing.
 */
export async function receiveSignInRule(tx: Tx, context: Deps, settings: PublishedSettings): Promise<void> {
  const before = await lockOlderRule(tx, settings);
  if (before === null) return;
  const domains = newlyRequired(before, settings);
  for (const domain of domains) await lockSignIns(tx, domain, 'changes');
  await writeRule(tx, settings);
  const people = await listPeopleOf(tx, domains);
  await endSessions(
    tx,
    context,
    people.filter((userId) => userId !== settings.break_glass_user_id),
  );
}

/** Ends the sessions of a person whose new address is in a domain that requires single sign-on. */
export async function endSessionsOutsideRule(
  tx: Tx,
  context: Deps,
  { userId, address }: { userId: UserId; address: string },
): Promise<void> {
  const domain = domainOf(address);
  await lockSignIns(tx, domain, 'signs in');
  const rules = await listRequiringRules(tx, domain);
  if (rules.some(({ breakGlassUserId }) => breakGlassUserId !== userId)) await endSessions(tx, context, [userId]);
}

async function endSessions(tx: Tx, context: Deps, people: readonly UserId[]): Promise<void> {
  if (people.length === 0) return;
  await revokeSessionsOf(tx, people, { now: context.now(), reason: 'sso_required' });
  // The time is read last, so that sessions that the control plane opened until now end too.
  await publishAccessEnded(tx, context, people, context.now());
}

/** The domains whose people may have sessions that did not begin at the required connection, in a fixed order. */
function newlyRequired(before: SignInRule, after: PublishedSettings): string[] {
  if (!after.sso_required) return [];
  const isSame = before.ssoRequired && before.connectionId === after.oidc_connection_id;
  return after.verified_domains.filter((domain) => !isSame || !before.domains.includes(domain)).toSorted();
}
