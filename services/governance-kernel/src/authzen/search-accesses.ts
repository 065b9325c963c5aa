import { AppError } from '@countersign/contracts';
import type { AccessRequest } from '@countersign/contracts/governance-kernel';
import type { KnownEntity } from '../relations/entity.ts';
import { answerAccesses, type AccessParts, type Standing } from './answer-accesses.ts';

type PageAsked = { readonly limit: number; readonly token: string };
type Found = { results: { type: string; id: string }[]; page: { next_token: string } };

/** The most accesses that are answered together. */
const roundMax = 100;
/** A search goes through so much of a type in one answer as fits in here, and leaves the rest to the next page. */
const searchMsMax = 500;

type Search = { type: string; page: PageAsked; requestFor(candidate: KnownEntity): AccessRequest };

/** Those of a type for which the request holds. The token says how far the candidates were gone through. */
export async function searchEntities(
  parts: AccessParts,
  standing: Standing,
  { type, page, requestFor }: Search,
): Promise<Found> {
  let after = afterOf(page.token);
  const fits: string[] = [];
  if (standing.model === null || page.limit === 0) return found(type, fits, null);
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < searchMsMax) {
    const candidates = await parts.permissions.listEntities(standing.tenant, { type, after, limit: roundMax });
    const decisions = await answerAccesses(parts, standing, candidates.map(requestFor));
    fits.push(...candidates.filter((_, index) => decisions[index]?.decision).map(({ id }) => id));
    // One more than was asked for says that there is another page.
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

/** Attacker-controlled: it names where a page begins, within the tenant, and nothing else. */
function afterOf(token: string): string | null {
  if (token === '') return null;
  const id = Buffer.from(token, 'base64url').toString('utf8');
  if (id === '' || id.includes('\u0000') || tokenOf(id) !== token)
    throw new AppError('INVALID_REQUEST', 'The token is not one of ours', { param: 'page.token' });
  return id;
}

/** Everything that the model has for the resource's type and that holds without properties of the action. */
export async function searchActionNames(
  parts: AccessParts,
  standing: Standing,
  request: Omit<AccessRequest, 'action'>,
): Promise<string[]> {
  const names = standing.model?.namesOf(request.resource.type) ?? [];
  const decisions = await answerAccesses(
    parts,
    standing,
    names.map((name) => ({ ...request, action: { name, properties: {} } })),
  );
  return names.filter((_, index) => decisions[index]?.decision);
}
