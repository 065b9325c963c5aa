import { AppError, TenantId, type Instant, type SessionId } from '@countersign/contracts';

/** The tenant of the chains that belong to no other tenant. */
export const systemTenant = TenantId.parse('system');

/** The chains in which a kernel seals its own statements. No call may add to them, or move their ends. */
const names = [
  'access-keys',
  'approval-terms',
  'budgets',
  'fences',
  'heads',
  'host-evidence',
  'identities',
  'mcp-registry',
  'passkeys',
  'policy',
  'relations',
  'trust',
] as const;
type OwnSession = (typeof names)[number];

export function ownSession(name: OwnSession): SessionId {
  return name as SessionId; // the schema accepts these names
}

/**
 * The chain for statements about exports, one per day. In the exported chain itself, such a statement would move the
 * end that it states. If a wrong clock leaves the chain of a day ahead of time, only exports of that day must wait.
 */
export function headsSession(at: Instant): SessionId {
  return `${ownSession('heads')}:${at.slice(0, 10)}` as SessionId; // the schema accepts this name too
}

/**
 * Throws INVALID_REQUEST for a session name that is reserved for the kernel, in any case and with any suffix after a
 * colon.
 */
export function assertCallersSession(session: SessionId): void {
  const [name = ''] = session.normalize('NFKC').toLowerCase().split(':', 1);
  if (!names.some((own) => own === name.trim())) return;
  const problem = `The session name ${session} is reserved: the kernel seals its own records under ${name}. Use another name.`;
  throw new AppError('INVALID_REQUEST', problem, { param: 'session_id' });
}
