import type { Command } from 'commander';
import { listAudit, type AuditEntry } from '@countersign/contracts/gateway';
import type { Io } from '../io.ts';
import { addList } from './list-command.ts';

export function addAudit(program: Command, io: Io): void {
  addList<AuditEntry>(program, io, {
    name: 'audit',
    about: 'Audit log of the workspace.',
    says: 'List entries of the audit log, newest first.',
    filters: {
      '--verdict <verdict>': 'of this verdict',
      '--action <name>': 'of this action',
      '--actor <principal>': 'of this person, key or agent',
    },
    columns: [
      { title: 'NO', of: ({ seq }) => String(seq) },
      { title: 'AT', of: ({ createdAt }) => createdAt },
      { title: 'VERDICT', of: ({ verdict }) => verdict },
      { title: 'ACTION', of: ({ action }) => action },
      { title: 'WHO', of: ({ actor }) => actor },
      { title: 'WHY', of: ({ reason }) => reason },
    ],
    ifNone: 'No matching entries.',
    read: ({ ask }, query) => ask({ listAudit }).listAudit({ query }),
  });
}
