import { AppError, type Instant, type SessionId } from '@countersign/contracts';

/** The chains in which a kernel seals its own announcements. No call may add to them, or move their ends. */
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
  return name as SessionId; // within its schema
}

/**
 * The statements about exports are in one chain a day: in the chain that they are about they would move the very end that they name. A
 * wrong clock that left the chain of a day ahead of time holds up the exports of that day alone.
 */
export function headsSession(at: Instant): SessionId {
  return `${ownSession('heads')}:${at.slice(0, 10)}` as SessionId; // as above
}

/** Throws INVALID_REQUEST for a session name that the kernel keeps for itself, in any case and with any suffix after a colon. */
export function assertCallersSession(session: SessionId): void {
  const [name = ''] = session.normalize('NFKC').toLowerCase().split(':', 1);
  if (!names.some((own) => own === name.trim())) return;
  const problem = `The session name ${session} is reserved: the kernel seals its own records under ${name}. Use another name.`;
  throw new AppError('INVALID_REQUEST', problem, { param: 'session_id' });
}
