// The sheet loads with the page, and not with the console.
import './runs.css';

export { RunsPage } from './runs-page.tsx';
