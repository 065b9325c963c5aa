import type { Preopen, SandboxRequest, SandboxTerms } from '@countersign/contracts/governance-kernel';

/** The accesses of a request beyond its grant, each as text for the caller. */
export function overgrants(terms: SandboxTerms, request: SandboxRequest): string[] {
  const { profile, preopens, env, network, limits } = request;
  return [
    ...(profile === undefined || profile === terms.profile ? [] : [`profile ${profile}`]),
    ...preopens
      .filter((wanted) => !terms.preopens.some((granted) => covers(granted, wanted)))
      .map(({ path, mode }) => `${mode} ${path}`),
    ...env.filter((name) => !terms.env.includes(name)).map((name) => `variable ${name}`),
    ...network.filter((destination) => !terms.network.includes(destination)),
    ...limitNames.filter((name) => (limits[name] ?? 0) > terms.limits[name]).map((name) => `${name} ${limits[name]}`),
  ];
}

/** A granted path includes the paths below it. */
export function covers(granted: Preopen, wanted: Preopen): boolean {
  const isInside = wanted.path === granted.path || wanted.path.startsWith(`${granted.path}/`);
  return isInside && (wanted.mode === 'ro' || granted.mode === 'rw');
}

const limitNames = ['memory_bytes', 'processes', 'cpu_seconds', 'open_files', 'file_bytes', 'data_bytes'] as const;
