import { Command, CommanderError } from 'commander';
import { forTerminal } from '@countersign/verifier';
import { CommandFailed } from './command-failed.ts';
import { addApprovals } from './commands/approvals.ts';
import { addAudit } from './commands/audit.ts';
import { addBoundary } from './commands/boundary.ts';
import { addBudgets } from './commands/budgets.ts';
import { addConnectors } from './commands/connectors.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEvidence } from './commands/evidence.ts';
import { addHandles } from './commands/handles.ts';
import { addIncidents } from './commands/incidents.ts';
import { addAgentKeys, addKeys } from './commands/keys.ts';
import { addLogin } from './commands/login.ts';
import { addInvites, addMembers } from './commands/members.ts';
import { addPolicy } from './commands/policy.ts';
import { addReceipts } from './commands/receipts.ts';
import { addReplay } from './commands/replay.ts';
import { addServe } from './commands/serve.ts';
import { addServers } from './commands/servers.ts';
import { addStops } from './commands/stops.ts';
import { addTasks } from './commands/tasks.ts';
import { addTools } from './commands/tools.ts';
import { addTrust } from './commands/trust.ts';
import { addVerify } from './commands/verify.ts';
import { addWitness } from './commands/witness.ts';
import type { Io } from './io.ts';
import { withKeysLast } from './keys-last.ts';

/** Runs the command line. Resolves to the exit status, and never rejects. */
export async function runCountersign(argv: string[], io: Io): Promise<number> {
  let status = 0;
  const program = new Command('countersign')
    .description('Control the calls of your agents: approvals, policies, limits and evidence.')
    .version('0.1.0')
    .exitOverride()
    // Messages of the library quote arguments, which may contain control characters.
    .configureOutput({ writeOut: io.write, writeErr: (text) => io.tell(text.split('\n').map(forTerminal).join('\n')) });
  addLogin(program, io);
  addReceipts(program, io);
  addApprovals(program, io);
  addTasks(program, io);
  addBudgets(program, io);
  addTools(program, io, (ended) => (status = ended));
  addServers(program, io);
  addConnectors(program, io, (ended) => (status = ended));
  addAudit(program, io);
  addIncidents(program, io);
  addStops(program, io);
  addHandles(program, io);
  addMembers(program, io);
  addInvites(program, io);
  addKeys(program, io);
  addAgentKeys(program, io);
  addPolicy(program, io);
  addEvidence(program, io, (ended) => (status = ended));
  addReplay(program, io, (ended) => (status = ended));
  addTrust(program, io);
  addVerify(program, io, (ended) => (status = ended));
  addServe(program, io);
  addWitness(program, io);
  addBoundary(program, io, (ended) => (status = ended));
  addDoctor(program, io, (ended) => (status = ended));
  try {
    await program.parseAsync(withKeysLast(argv), { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, io);
  }
}

function statusOf(error: unknown, io: Io): number {
  // The library has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  io.tell(`${forTerminal(error instanceof Error ? error.message : String(error))}\n`);
  return error instanceof CommandFailed ? error.status : 2;
}
