import type { EffectLevel, TenantId } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';

/** A tool in the name space of a declared server. One that the server does not list is registered too, with facts that deny it. */
type ResolvedTool = {
  kind: 'registered';
  /** Its canonical name, `server.tool`. */
  tool: string;
  /** Null: the registry does not say. */
  effectLevel: EffectLevel | null;
  /** Where its calls go; null: to a program on this machine. */
  host: string | null;
  /** The key of its server in the registry. Without it the name of the server is its key. */
  serverKey?: string;
  registry: Fact<RegistryFact>;
};

/** A spelling that a reader takes for this declared server, for another of its tools, or for tools of several servers. */
type LookAlike = { kind: 'look_alike'; serverId: string };

export type ToolResolution = ResolvedTool | LookAlike;

/** Knows the tools of all declared servers. A server that does not answer in time is unavailable. */
export type ToolResolver = {
  /**
   * Resolves a canonical name (`files.read`) or an alias: `files__read`, `mcp__files__read`, and `files_read` where
   * that is a registered tool. `null`: the tool is the caller's own, of no declared server; at once where no alias is
   * possible.
   */
  resolve(name: string, tenant: TenantId): Promise<ToolResolution | null> | null;
  /** For the calls of one answer: each server is asked once, and the time spent waiting is bounded for all of them together. */
  forOneAnswer(): Pick<ToolResolver, 'resolve'>;
  /** Which servers of the tenant and of the installation it knows, in which states. Without it: none, for good. */
  versionOf?(tenant: TenantId): string;
  /** Reads them for the first call of a tenant at this kernel. `null`: they were read. */
  firstRead?(tenant: TenantId): Promise<void> | null;
  /** Reads them again. */
  reload?(tenant: TenantId): Promise<void>;
};
