import type { Command } from 'commander';
import { listApiKeys, type ApiKey } from '@countersign/contracts/gateway';
import { listAccessKeys, type AccessKey } from '@countersign/contracts/governance-kernel';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addKeys(program: Command, io: Io): void {
  addList<ApiKey>(program, io, {
    name: 'keys',
    about: 'Keys that programs and agents call the workspace with.',
    says: 'List your keys, newest first; an owner sees everybody’s.',
    columns: [
      { title: 'KEY', of: ({ id }) => id },
      { title: 'BEGINS', of: ({ prefix }) => prefix },
      { title: 'STATE', of: ({ revokedAt, expiresAt }) => stateOf(revokedAt, expiresAt) },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'MAY', of: ({ scopes }) => scopes.join(',') },
      { title: 'USED', of: ({ lastUsedAt }) => lastUsedAt },
      { title: 'ENDS', of: ({ expiresAt }) => expiresAt },
      { title: 'NAME', of: ({ name }) => name },
    ],
    ifNone: 'There is no key.',
    read: ({ ask }, query) => ask({ listApiKeys }).listApiKeys({ query }),
  });
}

export function addAgentKeys(program: Command, io: Io): void {
  addList<AccessKey>(program, io, {
    name: 'agent-keys',
    about: 'Keys that are one agent or one approver each.',
    says: 'List keys of agents and approvers, newest first, also those that have ended. For owners.',
    columns: [
      { title: 'KEY', of: ({ key_id: id }) => id },
      { title: 'BEGINS', of: ({ prefix }) => prefix },
      { title: 'STATE', of: ({ revoked_at: at, expires_at }) => stateOf(at, expires_at) },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'DOORS', of: ({ doors }) => doors.join(',') },
      { title: 'USED', of: ({ last_used_at: at }) => at },
      { title: 'ENDS', of: ({ expires_at: at }) => at },
      { title: 'PRINCIPAL', of: ({ principal_id: id }) => id },
    ],
    ifNone: 'No agent has a key of its own.',
    read: ({ ask }, query) => ask({ listAccessKeys }).listAccessKeys({ query }),
  });
}

/** Uses the clock of this machine. */
function stateOf(revokedAt: string | null, expiresAt: string): string {
  return revokedAt !== null || Date.parse(expiresAt) <= Date.now() ? 'ended' : 'live';
}
