import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { authProfiles, type ProfileRow, type ProfileTerms } from './auth-profiles.ts';

/** The most profiles of a tenant. Every decision about a tool of a server reads all of them. */
const profilesMax = 32;

type Putting = { tenant: TenantId; id: string; by: PrincipalId; terms: ProfileTerms };

/** Sets a profile and seals the change. An equal profile is returned unchanged. Throws LIMIT_REACHED. */
export async function putProfile(deps: SettingDeps, { tenant, id, by, terms }: Putting): Promise<ProfileRow> {
  const nowMs = deps.clock().getTime();
  const chain = { tenant, session: ownSession('mcp-registry') };
  return await deps.ledger.submit({
    chain,
    wants: [wanted(authProfiles, tenant)],
    conclude: (batch) => {
      const rows = batch.rows(authProfiles, tenant);
      const current = rows.find((row) => row.id === id);
      if (current !== undefined && canonicalize(current.terms) === canonicalize(terms)) return () => current;
      if (current === undefined && rows.length >= profilesMax)
        throw new AppError('LIMIT_REACHED', `A tenant has ${profilesMax} authorization profiles at most`);
      const row: ProfileRow = { tenant, id, terms, setBy: by, updatedAtMs: nowMs };
      const setting = { profile_id: id, ...terms };
      const resource = `auth_profile:${tenant}/${id}`;
      const statement = {
        ...chain,
        by,
        nowMs,
        kind: 'registry',
        action: 'mcp.profile.set',
        resource,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(authProfiles, row)] }));
      return () => row;
    },
  });
}
