import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { IncidentId } from '@countersign/contracts';
import type { GivenCommand, OpsTarget, StopKind } from '@countersign/contracts/control-plane';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace, type OpenWorkspace } from '../workspace/open-workspace.ts';
import { stopKinds } from './kinds.ts';
import { TargetName } from './target-name.tsx';
import { targetKinds, targetOf, type TargetKind } from './target.ts';

type Props = {
  kind: StopKind | null;
  /** The incident that the stop is for. */
  incidentId?: IncidentId;
  /** The target that the form shows at first. */
  target?: { around: TargetKind; name: string };
  onClose: () => void;
  onGiven: (command: GivenCommand) => void;
};

/** The form is the only confirmation. It states what will be stopped, and one key submits it. */
export function StopForm({ kind, onClose, ...rest }: Props) {
  return (
    <Modal opened={kind !== null} onClose={onClose} title={kind === null ? '' : stopKinds[kind].title}>
      {kind !== null && <StopFields kind={kind} {...rest} />}
    </Modal>
  );
}

/** Zero selects the default duration of the stop. */
const times = [
  { id: 0, name: 'Until it is resumed' },
  { id: 3_600, name: 'For 1 hour' },
  { id: 86_400, name: 'For 1 day' },
];
const throttleTimes = [{ id: 0, name: 'For 1 hour' }, ...times.slice(2)];

/** The time window of each throttle that the form creates. */
const throttleSeconds = 60;

type Input = { around: TargetKind; name: string; reason: string; seconds: number; limit: string };

type FormProps = Omit<Props, 'kind' | 'onClose'> & { kind: StopKind };

export function StopFields({ kind, incidentId, target: first, onGiven }: FormProps) {
  const workspace = useWorkspace();
  const [fields, setFields] = useState<Input>({
    ...(first ?? { around: kind === 'freeze' ? 'workspace' : 'tool', name: '' }),
    reason: '',
    seconds: 0,
    limit: '10',
  });
  const change = (changed: Partial<Input>) => setFields((before) => ({ ...before, ...changed }));
  const target = targetOf(fields.around, fields.around === 'workspace' ? workspace.id : fields.name.trim());
  const give = useMutation({
    mutationFn: (around: OpsTarget) => giveStop(workspace, kind, { ...fields, target: around, incidentId }),
    onSuccess: ({ body }) => onGiven(body),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (target !== null) give.mutate(target);
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>{stopKinds[kind].says}</p>
      <Around input={fields} onChange={change} />
      {kind === 'throttle' && (
        <TextInput
          label="Calls per minute"
          type="number"
          min={0}
          max={1_000_000_000}
          required
          value={fields.limit}
          onChange={({ target: { value: limit } }) => change({ limit })}
        />
      )}
      <Choice
        label="How long"
        value={fields.seconds}
        options={kind === 'throttle' ? throttleTimes : times}
        onChange={(seconds) => change({ seconds })}
      />
      {give.error !== null && <ProblemNote error={give.error} />}
      <Button type="submit" color="red" loading={give.isPending}>
        {stopKinds[kind].act}
      </Button>
    </form>
  );
}

type AroundProps = { input: Input; onChange: (changed: Partial<Input>) => void };

function Around({ input: { around, name, reason }, onChange }: AroundProps) {
  const asks = targetKinds.find(({ id }) => id === around)?.asks ?? null;
  return (
    <>
      <TextInput
        data-autofocus
        label="Why"
        description="The stopped agent sees it."
        required
        maxLength={500}
        value={reason}
        onChange={({ target }) => onChange({ reason: target.value })}
      />
      <Choice
        label="What"
        value={around}
        options={targetKinds}
        onChange={(next) => onChange({ around: next, name: '' })}
      />
      {asks !== null && (
        <TargetName kind={around} label={asks} value={name} onChange={(next) => onChange({ name: next })} />
      )}
    </>
  );
}

function giveStop(
  { client }: OpenWorkspace,
  kind: StopKind,
  request: Input & { target: OpsTarget; incidentId: IncidentId | undefined },
) {
  const { target, seconds, incidentId } = request;
  const body = {
    ...{ target, reason: request.reason.trim() },
    ...(seconds === 0 ? {} : { ttl_seconds: seconds }),
    ...(incidentId === undefined ? {} : { incident_id: incidentId }),
  };
  switch (kind) {
    case 'freeze':
      return client.freezeTarget({ body });
    case 'quarantine':
      return client.quarantineTarget({ body });
    case 'throttle':
      return client.throttleTarget({
        body: { ...body, limit: Number(request.limit), window_seconds: throttleSeconds },
      });
    default:
      return kind satisfies never;
  }
}
