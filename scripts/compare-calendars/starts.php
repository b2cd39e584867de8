<?php
/*
 * The starts of rules by sabre/vobject (Debian's php-sabre-vobject). Reads one JSON document a line from stdin, with
 * "lines" (DTSTART and RRULE of an event) and "to", and writes for each a line with its starts on the clock of the event,
 * or a text with the reason why there are none. It has nothing of Mantel's own code.
 */
require_once '/usr/share/php/Sabre/VObject/autoload.php';

use Sabre\VObject\Reader;
use Sabre\VObject\RecurrenceIterator;

/** Some rules make the library search for ever. */
const SECONDS = 1;

function starts_of(array $lines, DateTime $end): array
{
    $text = implode("\r\n", ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:a', ...$lines, 'END:VEVENT', 'END:VCALENDAR', '']);
    $iterator = new RecurrenceIterator(Reader::read($text), 'a');
    $found = [];
    while ($iterator->valid()) {
        $start = $iterator->getDTStart();
        if ($start > $end) {
            break;
        }
        $found[] = $start->format('Y-m-d\TH:i:s');
        $iterator->next();
    }
    return $found;
}

error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING);
date_default_timezone_set('UTC');
pcntl_async_signals(true);
pcntl_signal(SIGALRM, fn () => throw new Exception('takes too long'));
while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    pcntl_alarm(SECONDS);
    try {
        $answer = starts_of($asked['lines'], new DateTime($asked['to'] . ' +60 days'));
    } catch (Throwable $error) {
        $answer = get_class($error) . ': ' . substr($error->getMessage(), 0, 100);
    }
    pcntl_alarm(0);
    echo json_encode($answer), "\n";
}
