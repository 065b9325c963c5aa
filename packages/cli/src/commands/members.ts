import type { Command } from 'commander';
import { getWorkspace, listInvites, type Invite, type Workspace } from '@countersign/contracts/gateway';
import { workspaceOf } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

type Member = Workspace['members'][number];

export function addMembers(program: Command, io: Io): void {
  addList<Member>(program, io, {
    name: 'members',
    about: 'Members of the workspace.',
    says: 'List members.',
    isWhole: true,
    columns: [
      { title: 'PERSON', of: ({ userId }) => userId },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'JOINED', of: ({ joinedAt }) => joinedAt },
      { title: 'ADDRESS', of: ({ email }) => email },
      { title: 'NAME', of: ({ name }) => name },
    ],
    ifNone: 'No members yet.',
    read: async (connection, { limit }) => {
      const client = connection.ask({ getWorkspace });
      const { members } = (await client.getWorkspace({ params: { id: workspaceOf(connection) } })).body;
      return { body: { data: members.slice(0, limit), nextCursor: null } };
    },
  });
}

export function addInvites(program: Command, io: Io): void {
  addList<Invite>(program, io, {
    name: 'invites',
    about: 'Open invites to the workspace.',
    says: 'List open invites, newest first. For owners.',
    columns: [
      { title: 'INVITE', of: ({ id }) => id },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'ENDS', of: ({ expiresAt }) => expiresAt },
      { title: 'ADDRESS', of: ({ email }) => email },
    ],
    ifNone: 'No open invites.',
    read: (connection, query) =>
      connection.ask({ listInvites }).listInvites({ params: { id: workspaceOf(connection) }, query }),
  });
}
