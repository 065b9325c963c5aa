import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { Instant, mayDo } from '@countersign/contracts';
import type { McpServerDetail } from '@countersign/contracts/governance-kernel';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useRegistry } from './use-registry.ts';

/**
 * The approval of a server. An owner or partner decides it in the inbox. For a server of the installation, the operator
 * decides it.
 */
export function ServerApproval({ server }: { server: McpServerDetail }) {
  const { role } = useWorkspace();
  const { approval, approval_request: request, definitions_hash: hash, owner } = server;
  if (approval === null || hash === null || isAsApproved(server)) return null;
  if (owner === 'installation') return <ByOperator approval={approval} />;
  if (request?.state === 'pending')
    return (
      <p className="note note-wait">
        Approval requested. <Link to="/inbox">Decide it in the inbox</Link>: it covers exactly the tools below
        {request.server_expires_at === null ? null : (
          <>
            , until <Moment at={request.server_expires_at} />
          </>
        )}
        .
      </p>
    );
  if (request?.state === 'approved')
    return (
      <p className="note" role="status">
        Approved. Countersign lists the tools once more, and pins them if they are the same.
      </p>
    );
  return mayDo(role, 'tool.manage') ? <Request server={server} hash={hash} /> : null;
}

function isAsApproved({ state, tools }: McpServerDetail): boolean {
  return state === 'approved' && tools.every(({ pin }) => pin === 'in_sync');
}

type Hash = NonNullable<McpServerDetail['definitions_hash']>;

function Request({ server: { server_id, state }, hash }: { server: McpServerDetail; hash: Hash }) {
  const { id } = useWorkspace();
  const registry = useRegistry();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const [end, setEnd] = useState('');
  const request = useMutation({
    mutationFn: () =>
      registry.requestMcpServerApproval({
        ...{ params: { server_id }, query: {} },
        body: { definitions_hash: hash, reason: reason.trim(), ...endOf(end) },
      }),
    // The tools are also read again after a refusal. If the server has changed, the page then shows its current tools.
    onSettled: () => queries.invalidateQueries({ queryKey: [id, 'tools'] }),
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <form className="stacked" onSubmit={send}>
      <TextInput
        label={state === 'approved' ? 'Why should the changes be accepted?' : 'Why should agents use this server?'}
        description="Approvers read this in the inbox, next to the hash of exactly these tools."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        maxLength={500}
        required
      />
      <TextInput
        label="Approved until"
        description="Calls are blocked from then on. Without a time, the approval has no end."
        type="datetime-local"
        value={end}
        onChange={({ target }) => setEnd(target.value)}
      />
      <div>
        <Button type="submit" size="xs" loading={request.isPending} disabled={reason.trim() === ''}>
          Request approval
        </Button>
      </div>
      {request.error !== null && <ProblemNote error={request.error} />}
    </form>
  );
}

/** The field contains local time without a time zone. */
function endOf(local: string): { expires_at?: Instant } {
  return local === '' ? {} : { expires_at: Instant.parse(new Date(local).toISOString()) };
}

/** How the operator approves the current tools of a server of the installation, with the receipt of an approval. */
function ByOperator({ approval: { action, resource } }: { approval: NonNullable<McpServerDetail['approval']> }) {
  return (
    <details>
      <summary>How the operator accepts the tools that the server lists now</summary>
      <p className="quiet">
        All workspaces share this server, so the operator of this installation approves it: with the operator key and
        the receipt of an approval of <CopyText text={action} whole /> for the resource below.
      </p>
      <CopyText text={resource} whole />
    </details>
  );
}
