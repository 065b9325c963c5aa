import { AppError } from '@countersign/contracts';
import type { AccessRequest } from '@countersign/contracts/governance-kernel';
import type { KnownEntity } from '../../controls/relations/entity.ts';
import { answerAccesses, type AccessDeps, type CurrentState } from './answer-accesses.ts';

type PageRequest = { readonly limit: number; readonly token: string };
type Found = { results: { type: string; id: string }[]; page: { next_token: string } };

/** The most accesses that are answered together. */
const roundMax = 100;
/** After this time, a search reads no more candidates. The next page continues. */
const searchMsMax = 500;

type Search = { type: string; page: PageRequest; requestFor(candidate: KnownEntity): AccessRequest };

/**
 * The entities of a type for which the request holds. The token contains the last entity of a full page, or the last
 * candidate that was checked in time.
 */
export async function searchEntities(
  deps: AccessDeps,
  current: CurrentState,
  { type, page, requestFor }: Search,
): Promise<Found> {
  let after = afterOf(page.token);
  const fits: string[] = [];
  if (current.model === null || page.limit === 0) return found(type, fits, null);
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < searchMsMax) {
    const candidates = await deps.permissions.listEntities(current.tenant, { type, after, limit: roundMax });
    const decisions = await answerAccesses(deps, current, candidates.map(requestFor));
    fits.push(...candidates.filter((_, index) => decisions[index]?.decision).map(({ id }) => id));
    // One result more than the limit shows that there is another page.
    if (fits.length > page.limit) return found(type, fits.slice(0, page.limit), fits[page.limit - 1] ?? null);
    after = candidates.at(-1)?.id ?? null;
    if (candidates.length < roundMax) return found(type, fits, null);
  }
  return found(type, fits, after);
}

function found(type: string, ids: readonly string[], last: string | null): Found {
  return { results: ids.map((id) => ({ type, id })), page: { next_token: last === null ? '' : tokenOf(last) } };
}

function tokenOf(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/** The client may forge the token. It only states where a page begins within the tenant. */
function afterOf(token: string): string | null {
  if (token === '') return null;
  const id = Buffer.from(token, 'base64url').toString('utf8');
  if (id === '' || id.includes('\u0000') || tokenOf(id) !== token)
    throw new AppError('INVALID_REQUEST', 'The page token was not issued by this server. Begin without a token', {
      param: 'page.token',
    });
  return id;
}

/** The actions of the resource's type that are permitted when the action has no properties. */
export async function searchActionNames(
  deps: AccessDeps,
  current: CurrentState,
  request: Omit<AccessRequest, 'action'>,
): Promise<string[]> {
  const names = current.model?.namesOf(request.resource.type) ?? [];
  const decisions = await answerAccesses(
    deps,
    current,
    names.map((name) => ({ ...request, action: { name, properties: {} } })),
  );
  return names.filter((_, index) => decisions[index]?.decision);
}
