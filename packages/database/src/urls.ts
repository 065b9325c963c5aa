/** The same URL with this database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** The same URL with this login. */
export function withLogin(url: string, { role, password }: { role: string; password: string }): string {
  const changed = new URL(url);
  changed.username = role;
  changed.password = password;
  return changed.toString();
}
