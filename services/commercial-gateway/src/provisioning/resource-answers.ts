import { answer, type Answer } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { weakTag } from '../scim/resource-version.ts';
import type { Projection } from '../scim/resource-view.ts';
import type { StoredScimGroup } from '../store/scim-groups.ts';
import type { StoredScimUser } from '../store/scim-users.ts';
import { groupResources, userResources } from './resource-pages.ts';

type Deps = Pick<Context, 'config' | 'database'>;
type Resource = Record<string, unknown>;
type Shown = { resource: Resource; tag: string; location: string };

/** Returns a person in the form that the identity provider receives. */
export async function userAnswers(
  { config, database }: Deps,
  user: StoredScimUser,
  projection: Projection,
): Promise<Shown> {
  const { scimBaseUrl: baseUrl } = config;
  const showing = { orgId: user.orgId, baseUrl, projection };
  const [resource = {}] = await userResources(database.reader, [user], showing);
  return { resource, tag: weakTag(user.version), location: `${baseUrl}/Users/${user.id}` };
}

export async function groupAnswers(
  { config, database }: Deps,
  group: StoredScimGroup,
  projection: Projection,
): Promise<Shown> {
  const { scimBaseUrl: baseUrl } = config;
  const showing = { orgId: group.orgId, baseUrl, projection };
  const [resource = {}] = await groupResources(database.reader, [group], showing);
  return { resource, tag: weakTag(group.version), location: `${baseUrl}/Groups/${group.id}` };
}

export function answerCreated({ resource, tag, location }: Shown): Answer<Resource> {
  return answer(201, resource, { etag: tag, location });
}

export function answerChanged({ resource, tag, location }: Shown): Answer<Resource> {
  return answer(200, resource, { etag: tag, 'content-location': location });
}

/** Answers a read, with 304 when the caller already has this version (RFC 7644 §3.14). */
export function answerRead({ resource, tag, location }: Shown, ifNoneMatch: string | undefined): Answer<Resource> {
  const existing = (ifNoneMatch ?? '').split(',').map((text) => text.trim());
  const status = existing.includes(tag) || existing.includes('*') ? 304 : 200;
  return answer(status, resource, { etag: tag, 'content-location': location });
}
