import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { LimitName, PlanCapability, type AdministeredOrg } from '@countersign/contracts/commercial-gateway';
import { commercial } from '../commercial/client.ts';
import { capabilityWords, limitWords } from '../commercial/words.ts';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { lastDayAt } from './last-day.ts';

type Body = NonNullable<NonNullable<Parameters<typeof commercial.putOrgSettings>[0]>['body']>;
type Props = { org: AdministeredOrg; section: 'suspension' | 'override'; onClose: () => void; onDone: () => void };

/** Changes one part of the settings of an organisation. The other part is sent unchanged. */
export function OrgSettingsDialog({ org, section, onClose, onDone }: Props) {
  const { name, suspension, override } = org;
  const isResuming = section === 'suspension' && suspension !== null;
  const isSuspending = section === 'suspension' && suspension === null;
  const put = useMutation({
    mutationFn: (body: Partial<Body>) =>
      commercial.putOrgSettings({
        params: { org_id: org.org_id },
        body: {
          suspension: suspension && { reason: suspension.reason },
          override: override && withoutTime(override),
          ...body,
        },
      }),
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  const act = isSuspending ? 'Suspend' : 'Resume';
  const title = section === 'override' ? `Exception for ${name}` : `${act} ${name}`;
  return (
    <Modal opened onClose={onClose} title={title}>
      {isSuspending && (
        <Suspend name={name} isPending={put.isPending} onSend={(reason) => put.mutate({ suspension: { reason } })} />
      )}
      {isResuming && (
        <div className="stacked">
          <p>The organisation starts runs again at once.</p>
          <Button data-autofocus loading={put.isPending} onClick={() => put.mutate({ suspension: null })}>
            Resume {name}
          </Button>
        </div>
      )}
      {section === 'override' && (
        <Override
          override={override}
          isPending={put.isPending}
          onSend={(changed) => put.mutate({ override: changed })}
        />
      )}
      {put.error !== null && <ProblemNote error={put.error} />}
    </Modal>
  );
}

type Override = NonNullable<AdministeredOrg['override']>;

function withoutTime({ limits, capabilities, expires_at }: Override): NonNullable<Body['override']> {
  return { limits, capabilities, expires_at };
}

type SuspendProps = { name: string; isPending: boolean; onSend: (reason: string) => void };

function Suspend({ name, isPending, onSend }: SuspendProps) {
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend(reason.trim());
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <p>No new runs start. Runs in progress, stops, approvals, proof and exports go on.</p>
      <TextInput
        data-autofocus
        label="Reason"
        required
        withAsterisk={false}
        maxLength={500}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      <Button type="submit" color="red" disabled={reason.trim() === ''} loading={isPending}>
        Suspend {name}
      </Button>
    </form>
  );
}

type OverrideProps = {
  override: Override | null;
  isPending: boolean;
  onSend: (override: NonNullable<Body['override']> | null) => void;
};

/** Sets one limit at a time. The other limits of the exception stay unchanged. */
function Override({ override, isPending, onSend }: OverrideProps) {
  const [limit, setLimit] = useState<LimitName>('tool_calls');
  const [count, setCount] = useState('');
  const [capabilities, setCapabilities] = useState<readonly PlanCapability[]>(override?.capabilities ?? []);
  const [day, setDay] = useState(override?.expires_at.slice(0, 10) ?? '');
  const until = lastDayAt(day);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (until === null) return;
    const limits = { ...override?.limits, ...(count === '' ? {} : { [limit]: Number(count) }) };
    onSend({ limits, capabilities: [...capabilities], expires_at: until });
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <Choice
        label="Limit"
        value={limit}
        options={LimitName.options.map((id) => ({ id, name: limitWords[id] }))}
        onChange={setLimit}
      />
      <TextInput
        data-autofocus
        label="New value"
        description="Empty: the limit stays as it is."
        inputMode="numeric"
        pattern="[0-9]{1,12}"
        value={count}
        onChange={({ target }) => setCount(target.value.trim())}
      />
      <Capabilities capabilities={capabilities} onChange={setCapabilities} />
      <TextInput
        label="Last day, in UTC"
        type="date"
        required
        withAsterisk={false}
        value={day}
        onChange={({ target }) => setDay(target.value)}
      />
      <div className="actions">
        <Button type="submit" disabled={until === null} loading={isPending}>
          Set exception
        </Button>
        {override !== null && (
          <Button variant="default" loading={isPending} onClick={() => onSend(null)}>
            Remove exception
          </Button>
        )}
      </div>
    </form>
  );
}

type CapabilitiesProps = {
  capabilities: readonly PlanCapability[];
  onChange: (capabilities: readonly PlanCapability[]) => void;
};

function Capabilities({ capabilities, onChange }: CapabilitiesProps) {
  const toggle = (capability: PlanCapability) =>
    onChange(
      capabilities.includes(capability)
        ? capabilities.filter((each) => each !== capability)
        : [...capabilities, capability],
    );
  return (
    <fieldset>
      <legend>Also includes</legend>
      {PlanCapability.options.map((capability) => (
        <label key={capability} className="check">
          <input type="checkbox" checked={capabilities.includes(capability)} onChange={() => toggle(capability)} />{' '}
          {capabilityWords[capability]}
        </label>
      ))}
    </fieldset>
  );
}
