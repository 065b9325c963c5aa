import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SessionOverview } from '@countersign/contracts/control-plane';
import type { Passkey } from '@countersign/contracts/governance-kernel';
import { sessionQuery } from '../api/queries.ts';
import { EndableTable } from '../parts/endable-table.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { createPasskey } from '../passkey/create-passkey.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { EndCell } from './end-cell.tsx';
import type { Ending } from './ending.ts';

type Enrolled = SessionOverview['passkeys'][number];
type Props = { passkeys: Enrolled[]; nameOf: (workspaceId: string) => string; onEnd: (ending: Ending) => void };

export function Passkeys({ passkeys, nameOf, onEnd }: Props) {
  const enrol = useEnrol();
  return (
    <section aria-label="Passkeys">
      <h2>Passkeys</h2>
      {passkeys.length === 0 ? (
        <EmptyState title="No passkeys yet" action={<AddPasskey enrol={enrol} />}>
          Your device signs you in and signs each approval with exactly what you saw. Once a workspace has a passkey,
          only passkeys can approve there.
        </EmptyState>
      ) : (
        <>
          <Table passkeys={passkeys} nameOf={nameOf} onEnd={onEnd} />
          <AddPasskey enrol={enrol} />
        </>
      )}
      {enrol.data !== undefined && <EnrolledNote passkey={enrol.data} />}
      {enrol.error !== null && <ProblemNote error={enrol.error} />}
    </section>
  );
}

function Table({ passkeys, nameOf, onEnd }: Props) {
  return (
    <EndableTable
      label="Your passkeys"
      columns={['Passkey', 'Approves in', { wide: 'Enrolled' }, { wide: 'Last sign-in' }]}
    >
      {passkeys.map((passkey) => (
        <Row
          key={passkey.credential_id}
          passkey={passkey}
          place={nameOf(passkey.workspace_id)}
          isLast={passkeys.length === 1}
          onEnd={onEnd}
        />
      ))}
    </EndableTable>
  );
}

type RowProps = { passkey: Enrolled; place: string; isLast: boolean; onEnd: Props['onEnd'] };

function Row({ passkey: { credential_id, enrolled_at, signed_in_at }, place, isLast, onEnd }: RowProps) {
  const ending = {
    id: credential_id,
    title: 'End passkey',
    says: `It can no longer sign in or approve. ${isLast ? lastOne : 'You keep another passkey.'}`,
    act: 'End passkey',
  };
  return (
    <tr>
      <td className="tight">
        <CopyText text={credential_id} />
      </td>
      <td>
        <Shown text={place} />
      </td>
      <td className="wide">
        <Moment at={enrolled_at} />
      </td>
      <td className="wide">{signed_in_at === null ? 'never' : <Moment at={signed_in_at} />}</td>
      <EndCell act="End" ending={ending} onEnd={onEnd} />
    </tr>
  );
}

const lastOne =
  'It is your only passkey. Its workspace accepts only passkeys, so you cannot approve there until you enrol another one and a colleague vouches for it.';

function AddPasskey({ enrol }: { enrol: ReturnType<typeof useEnrol> }) {
  const { name, role } = useWorkspace();
  if (!mayDo(role, 'own_passkey.manage'))
    return (
      <p className="quiet after-table">
        Partners and owners of <Shown text={name} /> can enrol a passkey here. You are a member.
      </p>
    );
  return (
    <p className="after-table">
      <Button variant="default" loading={enrol.isPending} onClick={() => enrol.mutate()}>
        Enrol a passkey
      </Button>{' '}
      <span className="quiet">
        For approvals in <Shown text={name} /> and for sign-in.
      </span>
    </p>
  );
}

function EnrolledNote({ passkey: { state, credential_id } }: { passkey: Passkey }) {
  if (state === 'active')
    return (
      <p className="note note-good" role="status">
        The passkey is enrolled. You can sign in and approve with it.
      </p>
    );
  return (
    <p className="note" role="status">
      This workspace already has passkeys, so a colleague with an active passkey must vouch for{' '}
      <CopyText text={credential_id} whole /> on the page /approvals/passkeys of the kernel. Until then it cannot sign
      in.
    </p>
  );
}

/** Adds a passkey at the kernel, in the open workspace. */
function useEnrol() {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { options } = (await client.beginPasskey()).body;
      return (await client.finishPasskey({ body: { attestation: await createPasskey(options) } })).body;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
}
