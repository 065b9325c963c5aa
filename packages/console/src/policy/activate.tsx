import { mayDo } from '@countersign/contracts';
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { Digest, WhatIfId } from '@countersign/contracts';
import type { WhatIfReport } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { isTyped, readName } from '../parts/typed-name.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { usePolicy } from './use-policy.ts';
import type { ActivePolicy } from './in-force.tsx';

type Props = { report: WhatIfReport; reportId: WhatIfId; policyHash: Digest; active: ActivePolicy };

/** States the consequence and requires a typed name. From the next decision on, every kernel decides by this draft. */
export function Activate({ report, reportId, policyHash, active }: Props) {
  const { id, name, role } = useWorkspace();
  const policy = usePolicy();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const { length: widened } = report.widened;
  const activate = useMutation({
    mutationFn: async () => {
      const body = { policy_hash: policyHash, report_id: reportId, acknowledge_widened: widened };
      const headers = { 'if-match': `"${active.policy_hash}"` };
      return (await policy.activatePolicy({ params: { id }, body, headers })).body;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [id, 'policy'] }),
  });
  if (activate.data !== undefined)
    return (
      <p className="note note-good" role="status">
        In force as version {activate.data.epoch}. The receipt of the decision:{' '}
        <CopyText text={activate.data.decision_receipt_id} />
      </p>
    );
  if (!mayDo(role, 'policy.activate')) return <p className="quiet">Only owners can activate a draft.</p>;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    activate.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit} aria-label="Activate">
      <h3>Activate</h3>
      <p>
        From the next decision on, this draft decides the calls of this workspace. {widened === 0 ? 'None' : widened} of
        the decisions above become more permissive
        {widened === 0 ? '.' : ', and you confirm that you have read them.'}
      </p>
      <TextInput
        label={`Type the name of the workspace: ${readName(name)}`}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {activate.error !== null && <ProblemNote error={activate.error} />}
      <Button type="submit" color="red" disabled={!isTyped(typed, name)} loading={activate.isPending}>
        Activate
      </Button>
    </form>
  );
}
