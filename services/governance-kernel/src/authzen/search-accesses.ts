import { AppError } from '@countersign/contracts';
import type { AccessRequest } from '@countersign/contracts/governance-kernel';
import type { KnownEntity } from '../relations/entity.ts';
import { answerAccesses, type AccessParts, type Standing } from './answer-accesses.ts';

type PageAsked = { readonly limit: number; readonly token: string };
type Found = { results: { type: string; id: string }[]; page: { next_token: string } };

/** Candidates of one answer: what is asked about them takes a fraction of a second. */
const candidatesMax = 1_000;

type Search = { type: string; page: PageAsked; requestFor(candidate: KnownEntity): AccessRequest };

/** Those of a type for which the request holds. The token says how far the candidates were gone through. */
export async function searchEntities(
  parts: AccessParts,
  standing: Standing,
  { type, page, requestFor }: Search,
): Promise<Found> {
  const after = afterOf(page.token);
  if (standing === null) return { results: [], page: { next_token: '' } };
  const candidates = await parts.permissions.listEntities(standing.tenant, { type, after, limit: candidatesMax });
  const decisions = await answerAccesses(parts, standing, candidates.map(requestFor));
  const fits = candidates
    .map((candidate, index) => ({ candidate, index }))
    .filter(({ index }) => decisions[index]?.decision);
  const shown = fits.slice(0, page.limit);
  const isCut = fits.length > shown.length;
  const lastSeen = isCut ? shown.at(-1)?.candidate : candidates.at(-1);
  const hasMore = isCut || candidates.length === candidatesMax;
  return {
    results: shown.map(({ candidate }) => ({ type, id: candidate.id })),
    page: { next_token: hasMore && lastSeen !== undefined ? tokenOf(lastSeen.id) : '' },
  };
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
  const names = [...(standing?.model.get(request.resource.type)?.keys() ?? [])].sort();
  const decisions = await answerAccesses(
    parts,
    standing,
    names.map((name) => ({ ...request, action: { name, properties: {} } })),
  );
  return names.filter((_, index) => decisions[index]?.decision);
}
