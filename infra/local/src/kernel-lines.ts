import type { Log } from '@countersign/service-kit';
import { forTerminal } from '@countersign/verifier';

/** Tells in words what became of the policy file, for whoever edits it; every other event goes its way. */
export function withPolicyLines(log: Log, write: (text: string) => void): Log {
  const say = (line: string) => write(`${forTerminal(line)}\n`);
  return {
    ...log,
    info: (event, fields) => {
      if (event === 'policy.activated') say(`Policy taken over: ${described(fields)}`);
      else if (event === 'policy.confirmed') say(`Policy unchanged: ${described(fields)}`);
      else log.info(event, fields);
    },
    warn: (event, fields) => {
      if (event === 'policy.file_refused') say(`Policy refused, the one before stays: ${String(fields?.['problem'])}`);
      else log.warn(event, fields);
    },
  };
}

const hashPrefixLength = 'sha256:'.length + 12;

function described(fields: Readonly<Record<string, unknown>> = {}): string {
  const { name, version, policy_hash: hash, epoch, path } = fields;
  return `${String(name)} ${String(version)}, ${String(hash).slice(0, hashPrefixLength)}, epoch ${String(epoch)}, ${String(path)}`;
}
