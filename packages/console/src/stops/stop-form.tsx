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
  /** For which it is given. */
  incidentId?: IncidentId;
  /** The first values of the form. */
  target?: { around: TargetKind; name: string };
  onClose: () => void;
  onGiven: (command: GivenCommand) => void;
};

/** One confirmation: what would be stopped is said here, and one key does it. */
export function StopForm({ kind, onClose, ...rest }: Props) {
  return (
    <Modal opened={kind !== null} onClose={onClose} title={kind === null ? '' : stopKinds[kind].title}>
      {kind !== null && <StopFields kind={kind} {...rest} />}
    </Modal>
  );
}

/** Zero: as long as the kind of stop says by itself. */
const times = [
  { id: 0, name: 'Until it is resumed' },
  { id: 3_600, name: 'For 1 hour' },
  { id: 86_400, name: 'For 1 day' },
];
const throttleTimes = [{ id: 0, name: 'For 1 hour' }, ...times.slice(2)];

/** The unit of a throttle in the form. */
const throttleSeconds = 60;

type Asked = { around: TargetKind; name: string; reason: string; seconds: number; limit: string };

type FormProps = Omit<Props, 'kind' | 'onClose'> & { kind: StopKind };

export function StopFields({ kind, incidentId, target: first, onGiven }: FormProps) {
  const workspace = useWorkspace();
  const [asked, setAsked] = useState<Asked>({
    ...(first ?? { around: kind === 'freeze' ? 'workspace' : 'tool', name: '' }),
    reason: '',
    seconds: 0,
    limit: '10',
  });
  const change = (changed: Partial<Asked>) => setAsked((before) => ({ ...before, ...changed }));
  const target = targetOf(asked.around, asked.around === 'workspace' ? workspace.id : asked.name.trim());
  const give = useMutation({
    mutationFn: (around: OpsTarget) => giveStop(workspace, kind, { ...asked, target: around, incidentId }),
    onSuccess: ({ body }) => onGiven(body),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (target !== null) give.mutate(target);
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>{stopKinds[kind].says}</p>
      <Around asked={asked} onChange={change} />
      {kind === 'throttle' && (
        <TextInput
          label="Calls per minute"
          type="number"
          min={0}
          max={1_000_000_000}
          required
          value={asked.limit}
          onChange={({ target: { value: limit } }) => change({ limit })}
        />
      )}
      <Choice
        label="How long"
        value={asked.seconds}
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

type AroundProps = { asked: Asked; onChange: (changed: Partial<Asked>) => void };

function Around({ asked: { around, name, reason }, onChange }: AroundProps) {
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
  asked: Asked & { target: OpsTarget; incidentId: IncidentId | undefined },
) {
  const { target, seconds, incidentId } = asked;
  const body = {
    ...{ target, reason: asked.reason.trim() },
    ...(seconds === 0 ? {} : { ttl_seconds: seconds }),
    ...(incidentId === undefined ? {} : { incident_id: incidentId }),
  };
  switch (kind) {
    case 'freeze':
      return client.freezeTarget({ body });
    case 'quarantine':
      return client.quarantineTarget({ body });
    case 'throttle':
      return client.throttleTarget({ body: { ...body, limit: Number(asked.limit), window_seconds: throttleSeconds } });
    default:
      return kind satisfies never;
  }
}
