import type { Command } from 'commander';
import { getWorkspace, listInvites, type Invite, type Workspace } from '@countersign/contracts/gateway';
import { workspaceOf } from '../connection/connection.ts';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

type Member = Workspace['members'][number];

export function addMembers(program: Command, io: Io): void {
  addList<Member>(program, io, {
    name: 'members',
    about: 'Who acts in the workspace.',
    says: 'List members.',
    isWhole: true,
    columns: [
      { title: 'PERSON', of: ({ userId }) => userId },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'JOINED', of: ({ joinedAt }) => joinedAt },
      { title: 'ADDRESS', of: ({ email }) => email },
      { title: 'NAME', of: ({ name }) => name },
    ],
    ifNone: 'There are no members.',
    read: async (connection, { limit }) => {
      const asked = connection.ask({ getWorkspace });
      const { members } = (await asked.getWorkspace({ params: { id: workspaceOf(connection) } })).body;
      return { body: { data: members.slice(0, limit), nextCursor: null } };
    },
  });
}

export function addInvites(program: Command, io: Io): void {
  addList<Invite>(program, io, {
    name: 'invites',
    about: 'Who was asked to join, and has not yet.',
    says: 'List invites that can still lead to a member, newest first. For owners.',
    columns: [
      { title: 'INVITE', of: ({ id }) => id },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'ENDS', of: ({ expiresAt }) => expiresAt },
      { title: 'ADDRESS', of: ({ email }) => email },
    ],
    ifNone: 'There are no invites.',
    read: (connection, query) =>
      connection.ask({ listInvites }).listInvites({ params: { id: workspaceOf(connection) }, query }),
  });
}
