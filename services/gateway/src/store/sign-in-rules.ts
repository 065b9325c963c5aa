import { UserId, type EventOf } from '@countersign/contracts';
import type { identityUpdated } from '@countersign/contracts/commercial-gateway';
import type { SignInRuleModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type PublishedSettings = EventOf<typeof identityUpdated>['data'];

export type SignInRule = {
  version: number;
  ssoRequired: boolean;
  connectionId: string | null;
  /** The person who may also sign in with a passkey. */
  breakGlassUserId: UserId;
  domains: readonly string[];
};

/**
 * Locks the rule of an organisation until the transaction ends, and inserts one without effect if there is none.
 * `null` when the settings are not newer than the rule.
 */
export async function lockOlderRule(tx: Tx, settings: PublishedSettings): Promise<SignInRule | null> {
  const { org_id: orgId, version, break_glass_user_id: breakGlassUserId } = settings;
  const data = { orgId, version: 0, ssoRequired: false, connectionId: null, breakGlassUserId, domains: [] };
  await tx.signInRule.createMany({ data, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM sign_in_rules WHERE org_id = ${orgId} FOR UPDATE`;
  const rule = ruleOf(await tx.signInRule.findUniqueOrThrow({ where: { orgId } }));
  return rule.version < version ? rule : null;
}

export async function writeRule(tx: Tx, settings: PublishedSettings): Promise<SignInRule> {
  const data = {
    ...{ version: settings.version, ssoRequired: settings.sso_required, connectionId: settings.oidc_connection_id },
    ...{ breakGlassUserId: settings.break_glass_user_id, domains: settings.verified_domains },
  };
  return ruleOf(await tx.signInRule.update({ where: { orgId: settings.org_id }, data }));
}

/** The rules that require single sign-on for a domain. A domain is verified for one organisation only. */
export async function listRequiringRules(reader: Reader, domain: string): Promise<SignInRule[]> {
  const where = { ssoRequired: true, domains: { has: domain } };
  return (await reader.signInRule.findMany({ where })).map(ruleOf);
}

/** The people with an address of one of the domains. */
export async function listPeopleOf(tx: Tx, domains: readonly string[]): Promise<UserId[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM users WHERE split_part(email, '@', 2) = ANY (${domains}) ORDER BY id`;
  return rows.map(({ id }) => UserId.parse(id));
}

/**
 * Makes sign-ins of a domain wait for a change of its rule, and the change for them, so that no session of a sign-in
 * before the change is missed. Sign-ins do not wait for each other.
 */
export async function lockSignIns(tx: Tx, domain: string, mode: 'signs in' | 'changes'): Promise<void> {
  if (mode === 'changes')
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`sign-in:${domain}`}, 0))`;
  else await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(hashtextextended(${`sign-in:${domain}`}, 0))`;
}

function ruleOf({ version, ssoRequired, connectionId, breakGlassUserId, domains }: SignInRuleModel): SignInRule {
  return {
    ...{ version, ssoRequired, connectionId, domains },
    breakGlassUserId: UserId.parse(breakGlassUserId),
  };
}
