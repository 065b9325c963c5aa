import { z } from 'zod';
import { ApiKeyEnvironment } from './api-key-terms.ts';
import { ApiKeyId, PrincipalId, TenantId, UserId, WorkspaceId } from './scalars.ts';

/**
 * The role of the principal for whom the gateway calls the kernel. It is an agent of a workspace, by the workspace's own name or by its key, or one of its people.
 */
export const AssertionRole = z.enum(['agent', 'member', 'partner', 'owner']);
export type AssertionRole = z.infer<typeof AssertionRole>;

/** An assertion says once, to one service, who speaks; it is worth nothing as any other token, and no other token is one. */
export const assertionTerms = {
  type: 'countersign-assertion+jwt',
  issuer: 'countersign-gateway',
  audience: 'countersign-governance-kernel',
  /** Long enough for a step that is sent again, too short to be used by an attacker who finds it in a log. */
  lifeSecondsMax: 60,
} as const;

/** The header of an assertion of this type. Nothing in a header may bring a key, or ask to be read in another way. */
export function assertionHeader(type: string) {
  return z.strictObject({
    alg: z.literal('EdDSA'),
    typ: z.literal(type),
    /** The id of the key, which the reader has pinned. */
    kid: z.string().regex(/^key_[0-9a-f]{16}$/),
  });
}

const Seconds = z.int().min(0);

export const AssertionClaims = z
  .strictObject({
    iss: z.literal(assertionTerms.issuer),
    /** One audience: a list is refused. */
    aud: z.literal(assertionTerms.audience),
    /** The principal. */
    sub: PrincipalId,
    /** The tenant. One that an operator has named otherwise has no workspace, and the gateway no say in it. */
    workspace_id: TenantId.refine((id) => WorkspaceId.safeParse(id).success, 'must be the id of a workspace'),
    role: AssertionRole,
    /** Version of the list of members that `role` was read from. The kernel takes no vote while its own list is older. */
    members_version: z.int().min(1).optional(),
    /**
     * Present for an agent: the person who started its run or made its key. This person does not approve its calls if
     * another could.
     */
    sponsor: UserId.optional(),
    iat: Seconds,
    exp: Seconds,
  })
  .refine(({ iat, exp }) => exp > iat && exp - iat <= assertionTerms.lifeSecondsMax, {
    path: ['exp'],
    message: `must be at most ${assertionTerms.lifeSecondsMax} s after iat`,
  })
  .refine(speaksAsItself, {
    path: ['sub'],
    message: 'must be an agent or a key of the workspace, or one of its people',
  });
export type AssertionClaims = z.infer<typeof AssertionClaims>;

type Spoken = { workspace_id: string; sub: string; role: AssertionRole };

/** Who asks and who decides have names of two kinds, so no assertion for one is ever of use as the other. */
function speaksAsItself({ workspace_id, sub, role }: Spoken): boolean {
  if (role !== 'agent') return UserId.safeParse(sub).success;
  return sub === agentOf(workspace_id) || keyOfPrincipal(sub) !== null;
}

/** The API key that a principal is: `key:<id>` or `key:<environment>:<id>`. `null` for every other principal. */
export function keyOfPrincipal(principal: string): ApiKeyId | null {
  const [kind, ...path] = principal.split(':');
  const id = path.pop();
  const isKnown = path.length === 0 || (path.length === 1 && ApiKeyEnvironment.safeParse(path[0]).success);
  return kind === 'key' && isKnown ? (ApiKeyId.safeParse(id).data ?? null) : null;
}

/** The principal of an API key, by which rules, budgets and fences know it. `environment` is `null` for keys of a workspace. */
export function keyPrincipal(keyId: ApiKeyId, environment: ApiKeyEnvironment | null = null): string {
  return environment === null ? `key:${keyId}` : `key:${environment}:${keyId}`;
}

/** The principal of a workspace's agent. */
export function agentOf(workspaceId: string): string {
  return `agent:${workspaceId}`;
}
