import type { Command } from 'commander';
import { listApiKeys, type ApiKey } from '@countersign/contracts/gateway';
import { listAccessKeys, type AccessKey } from '@countersign/contracts/governance-kernel';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addKeys(program: Command, io: Io): void {
  addList<ApiKey>(program, io, {
    name: 'keys',
    about: 'API keys of the workspace, for programs and agents.',
    says: 'List your keys, newest first. Owners see the keys of all members.',
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
    ifNone: 'No keys yet.',
    read: ({ ask }, query) => ask({ listApiKeys }).listApiKeys({ query }),
  });
}

export function addAgentKeys(program: Command, io: Io): void {
  addList<AccessKey>(program, io, {
    name: 'agent-keys',
    about: 'Access keys, each of one agent or one approver.',
    says: 'List keys of agents and approvers, newest first, including ended ones. For owners.',
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
    ifNone: 'No access keys yet.',
    read: ({ ask }, query) => ask({ listAccessKeys }).listAccessKeys({ query }),
  });
}

/** Whether a key is live or ended, by the clock of this computer. */
function stateOf(revokedAt: string | null, expiresAt: string): string {
  return revokedAt !== null || Date.parse(expiresAt) <= Date.now() ? 'ended' : 'live';
}
