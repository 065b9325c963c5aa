import { podman, type Installation } from './_containers.ts';

const folder = '/full';
/**
 * A separate small volume for the database, so that a test can fill it. It is in memory, so only tests may store data
 * there.
 */
export const volumeFor = { postgres: { tmpfs: [`${folder}:size=64m,mode=1777`] } };

/** Moves all tables of the installation to one small volume. `remove` must move them back before the server stops. */
export class FullVolume {
  readonly #server: string;

  constructor(installation: Installation) {
    this.#server = installation.idOf('postgres');
    this.#inServer('install', '--directory', '--owner=postgres', '--mode=0700', `${folder}/tables`);
    this.#sql(`CREATE TABLESPACE small LOCATION '${folder}/tables'`);
    this.#sql('ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE small');
    // Temporary files of large sorts are on the same volume, as on a server with one volume.
    this.#sql('GRANT CREATE ON TABLESPACE small TO public');
    this.#sql(`ALTER DATABASE countersign SET temp_tablespaces = 'small'`);
    this.#reconnectAll();
    this.#sql('CREATE TABLE public.ballast (bytes text) TABLESPACE small');
  }

  /** Writes more than fits. The failed write leaves its space in use until the table is dropped. */
  fill(): void {
    const tooMuch = `INSERT INTO public.ballast SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 60000)`;
    try {
      this.#sql(tooMuch);
    } catch (error) {
      if (String(error).includes('No space left on device')) return;
      throw error;
    }
    throw new Error('The volume is larger than its ballast.');
  }

  free(): void {
    this.#sql('DROP TABLE public.ballast');
  }

  remove(): void {
    this.#sql('DROP TABLE IF EXISTS public.ballast');
    this.#sql('ALTER DATABASE countersign RESET temp_tablespaces');
    this.#reconnectAll();
    this.#sql('ALTER TABLE ALL IN TABLESPACE small SET TABLESPACE pg_default');
    this.#sql('DROP TABLESPACE small');
  }

  #reconnectAll(): void {
    const others = `datname = 'countersign' AND pid <> pg_backend_pid()`;
    this.#sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
  }

  #sql(statement: string): void {
    this.#inServer('psql', '--username=postgres', '--dbname=countersign', '--quiet', '--command', statement);
  }

  #inServer(...command: string[]): void {
    podman('exec', '--user', 'root', this.#server, ...command);
  }
}
