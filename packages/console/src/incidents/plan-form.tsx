import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { Incident, PlanStep } from '@countersign/contracts/control-plane';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { targetKinds, targetOf, type TargetKind } from '../stops/target.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useIncidents } from './use-incidents.ts';

type Props = { incidentId: Incident['incident_id']; isOpen: boolean; onClose: () => void };

export function PlanForm({ incidentId, isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Plan stops">
      <Form incidentId={incidentId} onPlanned={onClose} />
    </Modal>
  );
}

type StepKind = Exclude<PlanStep['kind'], 'throttle'>;
type Step = { kind: StepKind; around: TargetKind; name: string };

const stepKinds = [
  { id: 'freeze', name: 'freeze' },
  { id: 'quarantine', name: 'quarantine' },
] as const;
const newStep: Step = { kind: 'freeze', around: 'tool', name: '' };
const stepsMax = 20;
/** A plan expires after an hour, because its dry run becomes outdated. */
const ttlSeconds = 3_600;

function Form({ incidentId, onPlanned }: { incidentId: Props['incidentId']; onPlanned: () => void }) {
  const { id } = useWorkspace();
  const incidents = useIncidents();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const [steps, setSteps] = useState<readonly Step[]>([newStep]);
  const wanted = steps.flatMap(({ kind, around, name }) => {
    const target = targetOf(around, around === 'workspace' ? id : name.trim());
    return target === null ? [] : [{ kind, target, reason: reason.trim() }];
  });
  const draft = useMutation({
    mutationFn: () =>
      incidents.createPlan({ body: { incident_id: incidentId, steps: wanted, ttl_seconds: ttlSeconds } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [id, 'incident'] });
      onPlanned();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted.length === steps.length) draft.mutate();
  };
  const change = (place: number, changed: Partial<Step>) =>
    setSteps((before) => before.map((step, at) => (at === place ? { ...step, ...changed } : step)));
  return (
    <form className="stacked" onSubmit={submit}>
      <p>Planning stops nothing. The plan shows which calls its stops would affect.</p>
      <TextInput
        data-autofocus
        label="Why"
        description="The stopped agent sees it."
        required
        withAsterisk={false}
        maxLength={500}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {steps.map((step, place) => (
        <StepFields key={place} step={step} number={place + 1} onChange={(changed) => change(place, changed)} />
      ))}
      {steps.length < stepsMax && (
        <button type="button" className="plain-button" onClick={() => setSteps([...steps, newStep])}>
          Add stop
        </button>
      )}
      {draft.error !== null && <ProblemNote error={draft.error} />}
      <Button type="submit" loading={draft.isPending}>
        Show effect
      </Button>
    </form>
  );
}

type FieldsProps = { step: Step; number: number; onChange: (changed: Partial<Step>) => void };

function StepFields({ step: { kind, around, name }, number, onChange }: FieldsProps) {
  const asks = targetKinds.find(({ id }) => id === around)?.asks ?? null;
  return (
    <fieldset className="in-line">
      <legend>Stop {number}</legend>
      <Choice label="Kind" value={kind} options={stepKinds} onChange={(next) => onChange({ kind: next })} />
      <Choice label="What" value={around} options={targetKinds} onChange={(next) => onChange({ around: next })} />
      {asks !== null && (
        <TextInput
          label={asks}
          required
          withAsterisk={false}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          error={name !== '' && targetOf(around, name.trim()) === null && 'This is not a valid name.'}
          value={name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
      )}
    </fieldset>
  );
}
