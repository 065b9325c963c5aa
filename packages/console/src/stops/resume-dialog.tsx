import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { GivenCommand, OpsTarget } from '@countersign/contracts/control-plane';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** A stop that an owner of this workspace may lift. */
export type Liftable = { target: OpsTarget; kind: string; reason: string; epoch: number };
type Props = { fence: Liftable | null; onClose: () => void; onGiven: (command: GivenCommand) => void };

/** Lifts a stop. The kernel decides this change first, and requires a fresh proof of presence. */
export function ResumeDialog({ fence, onClose, onGiven }: Props) {
  const { client } = useWorkspace();
  const [reason, setReason] = useState('');
  return (
    <ConfirmDialog
      question={
        fence && {
          title: 'Resume',
          says: <Consequence fence={fence} reason={reason} onReason={setReason} />,
          act: 'Resume it',
          typed: fence.target,
          isReady: reason.trim() !== '',
          run: async () => {
            const body = { target: fence.target, reason: reason.trim(), epoch: fence.epoch };
            onGiven((await client.resumeTarget({ body })).body);
          },
        }
      }
      onClose={() => {
        setReason('');
        onClose();
      }}
    />
  );
}

type ConsequenceProps = { fence: Liftable; reason: string; onReason: (reason: string) => void };

function Consequence({ fence: { target, kind, reason: why }, reason, onReason }: ConsequenceProps) {
  return (
    <div className="stacked">
      <p>
        Lifts the {kind} of <Shown text={target} />. Its reason was: <Shown text={why} />. The policy then decides the
        calls of the target again. Wider stops and later stops stay in force.
      </p>
      <TextInput
        data-autofocus
        label="Reason to resume"
        required
        maxLength={500}
        value={reason}
        onChange={({ target: field }) => onReason(field.value)}
      />
    </div>
  );
}
