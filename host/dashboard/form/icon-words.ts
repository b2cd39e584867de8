/** The icons that are offered, with the words by which they are found: English, then German; the first is the name. */
const WORDS = `
home: home, house | Zuhause, Haus
home-variant: house, home | Haus, Zuhause
sofa: sofa, living room, couch | Sofa, Wohnzimmer, Couch
bed: bed, bedroom, sleep | Bett, Schlafzimmer, schlafen
bed-king: double bed, bedroom | Doppelbett, Schlafzimmer
bunk-bed: bunk bed, children | Etagenbett, Kinderzimmer
teddy-bear: teddy, children, nursery | Teddy, Kinder, Kinderzimmer
baby-carriage: pram, baby | Kinderwagen, Baby
silverware-fork-knife: meal, dinner, dining room | Essen, Abendessen, Esszimmer
stove: stove, kitchen, cook | Herd, Küche, kochen
fridge: fridge, kitchen | Kühlschrank, Küche
countertop: kitchen, worktop | Küche, Arbeitsplatte
coffee: coffee, breakfast | Kaffee, Frühstück
shower: shower, bathroom | Dusche, Bad
bathtub: bath, bathroom | Badewanne, Bad
toilet: toilet | Toilette, WC
stairs: stairs, hallway | Treppe, Flur
door: door, hallway | Tür, Flur
door-open: open door | offene Tür
garage: garage, car | Garage, Auto
car: car | Auto
ev-station: charge car, wallbox | Auto laden, Wallbox
bicycle: bicycle | Fahrrad
tree: tree, garden | Baum, Garten
flower: flower, garden, plant | Blume, Garten, Pflanze
sprout: plant, garden | Pflanze, Garten
watering-can: water plants | gießen, Gießkanne
grill: grill, barbecue | Grill
balcony: balcony, terrace | Balkon, Terrasse
pool: pool, swim | Becken, Schwimmen
desk: desk, office, work | Schreibtisch, Büro, Arbeit
briefcase: work, office | Arbeit, Büro
laptop: computer, office | Computer, Büro
washing-machine: washing machine, laundry | Waschmaschine, Wäsche
tumble-dryer: dryer, laundry | Trockner, Wäsche
dishwasher: dishwasher | Spülmaschine
vacuum: vacuum, clean | Staubsauger, putzen
robot-vacuum: robot, clean | Saugroboter, putzen
broom: clean, broom | Besen, putzen
trash-can: bin, rubbish | Müll, Tonne
lightbulb: light, lamp | Licht, Lampe
lightbulb-group: lights, lamps | Lichter, Lampen
ceiling-light: ceiling lamp, light | Deckenlampe, Licht
floor-lamp: floor lamp, light | Stehlampe, Licht
desk-lamp: desk lamp, light | Schreibtischlampe, Licht
outdoor-lamp: outdoor lamp, light | Außenlampe, Licht
string-lights: string lights, Christmas | Lichterkette, Weihnachten
led-strip-variant: light strip | Lichtband
candle: candle, cosy | Kerze, gemütlich
palette: colours, scene | Farben, Szene
power-plug: plug, socket | Stecker, Steckdose
light-switch: switch | Schalter
power: on and off, power | an und aus
thermometer: temperature | Temperatur
radiator: radiator, heating | Heizkörper, Heizung
heat-wave: heat, heating | Wärme, Heizung
fire: fire, fireplace | Feuer
fireplace: fireplace | Kamin
snowflake: cold, winter | kalt, Winter
air-conditioner: air conditioner, cool | Klimaanlage, kühlen
fan: fan | Ventilator, Lüfter
air-filter: air, filter | Luft, Filter
water: water, drop | Wasser, Tropfen
water-percent: humidity | Luftfeuchtigkeit
lightning-bolt: energy, power, electricity | Energie, Strom
solar-power-variant: solar, sun | Solar, Photovoltaik
home-battery: battery, storage | Speicher, Batterie
meter-electric: meter, electricity | Zähler, Strom
blinds: blinds, shutter | Jalousie, Rollladen
curtains: curtains | Vorhang, Gardine
window-closed: window | Fenster
window-open: open window | offenes Fenster
lock: lock, locked | Schloss, verriegelt
key: key | Schlüssel
shield-home: alarm, security | Alarm, Sicherheit
cctv: camera, security | Kamera, Sicherheit
doorbell: doorbell, bell | Türklingel
motion-sensor: motion | Bewegung
smoke-detector: smoke | Rauchmelder, Rauch
bell: bell, notice | Glocke, Hinweis
television: television, TV | Fernseher
movie-open: film, cinema | Film, Kino
popcorn: popcorn, film | Popcorn, Film
speaker: speaker, music | Lautsprecher, Musik
music: music | Musik
radio: radio | Radio
gamepad-variant: game, play | Spiel, spielen
book-open-variant: book, reading | Buch, lesen
party-popper: party, birthday | Feier, Party, Geburtstag
cake-variant: cake, birthday | Kuchen, Geburtstag
gift: gift, birthday, Christmas | Geschenk, Weihnachten
pine-tree: Christmas tree, forest | Weihnachtsbaum, Wald
weather-sunny: sun, day | Sonne, Tag
weather-night: night, moon | Nacht, Mond
weather-sunset-up: morning, sunrise | Morgen, Sonnenaufgang
weather-sunset-down: evening, sunset | Abend, Sonnenuntergang
weather-partly-cloudy: weather | Wetter
weather-rainy: rain | Regen
umbrella: umbrella, rain | Schirm, Regen
home-export-outline: leave, away | gehen, abwesend
home-import-outline: arrive, coming home | ankommen, heimkommen
airplane: holiday, travel | Urlaub, Reise
bag-suitcase: suitcase, travel | Koffer, Reise
walk: walk | gehen, Spaziergang
dumbbell: sport, fitness | Sport, Fitness
yoga: yoga, relax | Yoga, entspannen
meditation: relax, quiet | entspannen, Ruhe
calendar: calendar | Kalender
clock-outline: clock, time | Uhr, Zeit
timer-outline: timer | Wecker, Timer
alarm: alarm clock, wake up | Wecker, aufstehen
cart: shopping | Einkaufen
format-list-checks: list, tasks | Liste, Aufgaben
account: person | Person
account-group: family, people | Familie, Personen
dog: dog, pet | Hund, Haustier
cat: cat, pet | Katze, Haustier
heart: heart, favourite | Herz, Liebling
star: star, favourite | Stern, Favorit
pill: medicine | Medizin, Tablette
cog: settings | Einstellungen
wifi: network, Wi-Fi | Netz, WLAN
server: server, system | Server, System
chart-line: chart, history | Diagramm, Verlauf
map-marker: place, map | Ort, Karte
`;

/** An icon with its names and all words by which it is found, in lower case. */
export interface OfferedIcon {
  /** Such as `mdi:sofa`. */
  readonly icon: string;
  readonly english: string;
  readonly german: string;
  readonly words: string;
}

export const OFFERED_ICONS: readonly OfferedIcon[] = WORDS.trim()
  .split("\n")
  .map((line) => {
    const [name = "", words = ""] = line.split(": ");
    const [english = "", german = ""] = words.split(" | ");
    return {
      icon: `mdi:${name}`,
      english: firstOf(english),
      german: firstOf(german),
      words: `${name} ${english} ${german}`.toLowerCase(),
    };
  });

function firstOf(words: string): string {
  return words.split(", ")[0] ?? words;
}

/** True if each word of the search begins a word of the icon. */
export function isFound({ words }: OfferedIcon, search: string): boolean {
  const known = words.split(/[\s,-]+/);
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
  return wanted.every((word) => known.some((each) => each.startsWith(word)));
}
