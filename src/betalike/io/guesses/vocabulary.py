"""What the name of a column suggests, in several languages.

Terms are parted by spaces. In a term, `_` is a space that may be left out, and `*` stands for the rest of a word.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import cache

_PERSON = (
    "patient|person|people|customer|client|subject|member|student|pupil|employee|worker|user|participant|respondent|"
    "subscriber|insured|beneficiary|citizen|resident|individual|caller|holder|tenant|applicant|donor|staff|volunteer|"
    "subj|pat|pt|cust|emp|patienten|personen|kunden|mitarbeiter|versicherten|teilnehmer|schuler|persona|paciente|cliente|"
    "empleado|alumno|paziente|utente|klant|salarie|eleve|assure"
)
_NUMBER = "id|ids|uid|guid|uuid|no|nr|num|number|nummer|numero|numer|key|ref|identifier|identifiant|kennung|pk"
_HOME = "household|house_hold|hh|family|fam|dwelling|home|haushalts?|menage|hogar|famiglia|huishouden|agregado"
_UNIT = (
    "hospital|clinic|ward|department|dept|school|store|shop|branch|company|employer|firm|product|item|sku|brand|plan|"
    "site|centre|center|facility|provider|course|team|office|station|vendor|supplier|agency|bank|insurer|building|model|"
    "make|abteilung|schule|filiale|klinik|firma|producto|produit|ecole|hopital|escuela|tienda"
)
_ACCOUNT = (
    "insurance|policy|account|acct|card|contract|claim|invoice|order|ticket|transaction|payment|receipt|licen[cs]e|"
    "membership|loan|booking|reservation|shipment|tracking|serial|meter|poliza|cuenta|konto|vertrags|rechnungs|police|"
    "compte|polizza|conto|rekening|dossier"
)
_NAMED = (
    "first|last|middle|maiden|given|family|full|sur|fore|nick|birth|user|login|screen|contact|mother|father|parent|"
    f"guardian|spouse|partner|child|teacher|doctor|physician|nurse|owner|{_PERSON}"
)
_WEIGHTED = (
    "sampl[a-z]*|survey|design|final|person|pers|household|hh|post_strat[a-z]*|replicate|rep|cross|long|analysis|"
    "pop[a-z]*|base|strat[a-z]*|calibrat[a-z]*|p|f|pw|d|psp"
)


class NameHint(StrEnum):
    """What a name suggests, worded to follow "its name suggests"."""

    EMAIL = "an e-mail address"
    PHONE = "a phone number"
    NETWORK = "a network or device address"
    OFFICIAL = "an official number of a person"
    PERSON_NAME = "a person's name"
    ADDRESS = "a street address"
    ACCOUNT = "an account, policy or card number"
    RECORD = "a number of a person or a record"
    HOUSEHOLD = "a household"
    SAMPLING = "a sampling weight"
    WEIGHT = "a weight"
    TEXT = "free text"
    HEALTH = "health"
    BELIEF = "a belief, an orientation or an offence"
    MONEY = "money"
    RESULT = "a result or a judgement"
    PERSONAL = "a trait of a person"
    COORDINATE = "coordinates"
    PLACE = "a place"
    UNIT = "an organization or a thing"
    KNOWN = "something that others know"


# The first hint that fits is the strongest: `patient_name` is a name before it is a trait of a person.
_TERMS: dict[NameHint, str] = {
    NameHint.EMAIL: "e_mails? *email* courriel* correo* mail",
    NameHint.PHONE: """
        phones? telephones? *telefon* telefoon* *telephone* fax mobile cell cellulare* movil handy handynummer tel
        msisdn imei imsi""",
    NameHint.NETWORK: """
        ip ip_addr* ip_v_[46]* mac_addr* device_id cookie* url homepage twitter facebook licen[cs]e_plate*
        number_plate* kennzeichen vin gps""",
    NameHint.OFFICIAL: """
        ssn social_sec* sin nin nino national_(id|ins|identity|num)* passport* passeport* pasaporte* driv[a-z]*_lic*
        tax_(id|no|num|payer)* tin itin nhs medicare medicaid aadhaar pan_(no|num)* dni nif nie rut curp rfc cpf cpr
        bsn nir pesel hetu codice_fiscale personnummer fodselsnummer steuernummer steuer_(id|nr) *ausweis* cedula
        svnr *sozialvers* *versichertennummer *versicherungsnummer *kassennummer insee secu *numero_secu* voter_id
        tckn rodne_cislo""",
    NameHint.PERSON_NAME: rf"""
        ({_NAMED})s?_(names?|nm) nm_({_NAMED}) (givn|frst|lst)_nm ^(first|last)$ ({_PERSON})_(first|last|middle)$
        names?_of_(the_)?({_PERSON})* [fl]name *surname* *forename* signature initials *vorname*
        *nachname* *familienname* nom prenom* nombres? apellido* cognome* nome sobrenome* voornaam* achternaam* imie
        nazwisko* *naam sukunimi jmeno prijmeni soyad next_of_kin full_nm emergency_contact contact_person fornamn*
        efternamn* fornavn* etternavn* efternavn* login имя фамилия 姓名
        hausarzt* (attending|treating|referring)_(doctor|physician)""",
    NameHint.ADDRESS: """
        addr address(es)? streets? strasse strassenname str rue calle straat indirizzo* direccion* endereco*
        adres(se|s)? domicil* hausnummer house_(no|nr|num)* apartment_(no|num)* wohnadresse""",
    NameHint.ACCOUNT: f"({_ACCOUNT})_({_NUMBER}) iban bic kontonummer policennummer vertragsnummer rekeningnummer "
    "credit_card* cc_(no|num)* bank_acct sort_code matricola (num|numero|nro)_(cliente|documento|dossier|assure)",
    NameHint.HOUSEHOLD: f"({_HOME})_({_NUMBER}|serial|code) ^({_NUMBER})_(de_|del_)?({_HOME}) ^serial$",
    NameHint.SAMPLING: f"""
        ({_WEIGHTED})_(w(ei)?gh?ts?|wt|wgt|weight*) fnl?wgt pweight dweight pspwght
        (per|hh|fin|fnl|final|p|asec|ear)?wt (per|hh|fin)?wt_[0-9]* wgt* *hochrechnung* *gewichtungs* ponderation
        ponderacion factor_(de_)?expansion expansion_factor fexp peso_(muestral|camp)* weighting inverse_prob*""",
    NameHint.WEIGHT: "weights? gewicht poids peso pondera*",
    NameHint.TEXT: """
        notes? comments? remarks? narrative free_text descriptions? observations? memo message review feedback
        details anamnes* bemerkung* kommentar* notiz* commentaires? remarques? comentarios? observaciones opmerking*
        summary body complaint transcript purpose *verwendungszweck*""",
    NameHint.HEALTH: """
        *diagnos* *disease* *illness* condition* *symptom* hiv aids std *cancer* *tumou?r* icd drgs? procedure*
        *treatment* *medication* drugs? prescri* *therap* *surger* mental* depress* anxiety* *disab* handicap*
        pregnan* blood* glucose* *cholesterol* diabet* asthma* dx psych* substance* allerg* *infect* vaccin* dose*
        adverse* *comorbid*
        genotype* genetic* dna mutation* *smok* *alcohol* addict* suicid* sick *krank* maladie* enfermedad*
        malattia* doenca* ziekte* behandlung* medikament* traitement* tratamiento* health bmi systolic* diastolic*
        hba_1_c injur* cause_of_death chol viral cd_4 *gesundheit* special_needs arm trt* cohort""",
    NameHint.BELIEF: """
        *religi* faith belief* *sexual* orientation* *politic* party vote* union crim* convict* offen[cs]e* arrest*
        prison* felony* konfession* glauben* partei immigration* asylum* citizenship_status visa_status abuse*
        victim* gewerkschaft*""",
    NameHint.MONEY: """
        *salar* *income* inc_(tot|wage|earn|fam|hh)? (hh|fam|tot)inc wages? earn* pay paid net_worth *wealth* debt*
        loans? credit* balance* charges? premium* bonus* pension* welfare* benefits? spend* spent *amount* costs?
        expen[sd]* rent assets? savings *mortgage* arrears* default* *gehalt* lohn* *einkommen* *verdienst*
        *schulden* *umsatz* *salaire* *revenu* dette* sueldo* ingreso* deuda* stipendio* reddito* renda inkomen*
        loon salaris* price* fares? capital* turnover* compensation* gross claim_(amt|total) poverty* miete alimony
        tips? bankruptcy kosten preise?""",
    NameHint.RESULT: """
        grades? scores? gpa marks? *exam* test_result* *performance* *rating* *satisfaction* churn* *outcome*
        result* attrition* dropout* fail(ed|ure)? disciplin* absen[ct]* attendance* conduct decision surviv* death
        died mortality* readmi* event response *fraud* complication* noten? zensur*""",
    NameHint.PERSONAL: """
        age age_* sex gender *birth* dob born *geburt* *geschlecht* sexe sexo sesso *naissance* nacimiento* nascita*
        alter edad eta leeftijd* geslacht* race *ethni* height gross?e groesse *marital* *familienstand* etat_civil
        estado_civil stato_civile civil *nationalit* citizenship educat* schooling* *native* mother_tongue language*
        handed* eyes? hair veteran*""",
    NameHint.COORDINATE: """
        lat(itude)? lon(g|gitude)? lng coords? coordinates? koordinaten? easting northing utm geo_hash geo_point wkt
        lat_lon(g|gitude)? lat_lng breitengrad* langengrad*""",
    NameHint.PLACE: """
        zip* post_(al_)?code* *postcode* postal plz cap city town* village* municip* commune* gemeinde* stadt ort
        *wohnort* ville ciudad* citta* state *provinc* provinz* bundesland* *region* district* county* countr* land
        pays pais paese continent* neighbou?rhood* borough* parish* tract block fips nuts
        area_code puma urban* rural* kanton* canton*""",
    NameHint.UNIT: f"({_UNIT})s? ({_UNIT})(id|no|nr|code)",
    NameHint.KNOWN: """
        *occupation* job profession* title beruf* work* industry* sector* date datum day month year admi(t|ssion)*
        discharge* visit* arriv* start* end hire* tenure* seniority* children* kinder* dependents household_size
        persons rooms* car vehicle* bike* house_type* ownership*""",
}
_RECORD = f"""
    ({_NUMBER})$ ^({_NUMBER})_(de_|del_|du_|des_)?({_PERSON}) ({_PERSON}|record|case)_({_NUMBER}|code) mrn
    *matricule* pid empno (u|us?ubj|subj|resp|pat|cust|emp|stud|rec|case|hosp)id ^index$ ^idx$ ^row_num*
    *(patienten|kunden|personal|matrikel|mitarbeiter|fall|akten|mitglieds|schuler|teilnehmer|klant)(nummer|nr|id)
    expediente historia_clinica ^unnamed(_[0-9]+)?$"""
_CODES = f"""
    ({_UNIT})_(id|no|nr|code)? sex gender race *marital* codes? type kind status class category cat group icd occ*
    ind industry sector geschlecht sexe sexo sesso geslacht party religion *ethnic* countr* nation* state *provinc*
    region* district* county* municip* zip* post_(al_)?code* *postcode* plz *familienstand* id work_class tract
    *fips? puma marst"""
_ORDERED = "age year* size level income alter edad jahr*"
_FEATURES = """
    has is was had n num nb number_of no_of count total type kind status flag opt consent plan service domain method
    preferred verified change[sd]? length len year month since quality valid lines? provider"""
_COUNTS = "^(n|no|nr|num|number|nb|count|anzahl|nombre|numero)_(of_|de_|di_)?[a-z]* count anzahl"
_MEASURES = """
    height* gross?e groesse taille talla estatura altezza lengte bmi body_mass* kg kgs kilo* lbs? pounds? grams?
    units? uom einheit unite unidad"""
_BODIES = "(body|birth|baby|infant|child|fetal|maternal|dry|ideal)_(w(ei)?gh?ts?|wt|weights?)"
_PEOPLE = f"({_PERSON})s? *patient* *kunden* *person* *mitarbeiter* mrn pid *matrikel* empno"


@cache
def _compile(terms: str) -> re.Pattern[str]:
    """Return terms as one regular expression, when it is needed: compiling all of them would slow every start down."""
    return re.compile("|".join(map(_read_term, terms.split())))


def _has(words: str, terms: str) -> bool:
    return _compile(terms).search(words) is not None


def _read_term(term: str) -> str:
    r"""Return a term as a regular expression.

    >>> _read_term("zip*"), _read_term("post_code"), _read_term("^id_?")
    ('\\bzip', '\\bpost ?code\\b', '^id ??\\b')
    """
    start = "" if term.startswith(("*", "^")) else r"\b"
    end = "" if term.endswith(("*", "$")) else r"\b"
    return start + term.removeprefix("*").removesuffix("*").replace("[a-z]*", "[a-z]+").replace("_", " ?") + end


_OWN_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
IDENTIFYING = (
    NameHint.EMAIL,
    NameHint.PHONE,
    NameHint.NETWORK,
    NameHint.OFFICIAL,
    NameHint.PERSON_NAME,
    NameHint.ADDRESS,
    NameHint.ACCOUNT,
    NameHint.RECORD,
)
PRIVATE = (NameHint.HEALTH, NameHint.BELIEF, NameHint.MONEY, NameHint.RESULT)


def split_name(name: str) -> str:
    """Return the words of a name in small letters without accents, parted by spaces.

    >>> [split_name(name) for name in ("patientName", "Prénom_2", "HIVStatus", "e-mail", "ZIP5")]
    ['patient name', 'prenom 2', 'hiv status', 'e mail', 'zip 5']
    """
    parted = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-zà-ÿ])", " ", name)
    plain = unicodedata.normalize("NFKD", parted.lower().translate(_OWN_LETTERS))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.findall(r"[^\W\d_]+|\d+", letters))


def read_name(name: str) -> tuple[NameHint, ...]:
    """Return what a name suggests, the strongest first; nothing for a name that says nothing."""
    words = split_name(name)
    hints = [hint for hint, terms in _TERMS.items() if _has(words, terms)]
    if _names_a_record(words):
        place = sum(hint in IDENTIFYING or hint is NameHint.HOUSEHOLD for hint in hints)
        hints.insert(place, NameHint.RECORD)
    others = {*IDENTIFYING, *PRIVATE, NameHint.UNIT, NameHint.PLACE}
    is_bare = re.search(r"\bnames?\b|names?$", words) is not None and others.isdisjoint(hints)
    return (NameHint.PERSON_NAME, *hints) if is_bare else tuple(hints)


def _names_a_record(words: str) -> bool:
    return _has(words, _RECORD) and not _has(words, _COUNTS)


def names_a_feature(name: str) -> bool:
    """Return whether a name is about something rather than the thing itself: `has_phone`, `address_type`."""
    return _has(split_name(name), _FEATURES)


def names_a_measure(name: str) -> bool:
    """Return whether a name is that of a height, a unit, or a weight of bodies: `height`, `weight_kg`, `birth_wt`."""
    words = split_name(name)
    return _has(words, _MEASURES) or _has(words, _BODIES)


def names_a_person(name: str) -> bool:
    """Return whether a name mentions a person: `customer_no`."""
    return _has(split_name(name), _PEOPLE)


def names_nothing_but_a_person(name: str) -> bool:
    """Return whether a name is a word for a person, and no more: `pupil`, `Élève`."""
    return _has(split_name(name), f"^({_PERSON})s?$")


def names_a_code(name: str) -> bool:
    """Return whether whole numbers under this name are codes and not amounts: `sex`, `country`, `zip`."""
    words = split_name(name)
    return _has(words, _CODES) and not _has(words, _ORDERED)


def is_person_key(name: str) -> bool:
    """Return whether a column is named like the key of a person, such as patient_id."""
    words = split_name(name)
    is_key = _has(words, _PEOPLE) and (_names_a_record(words) or _has(words, _TERMS[NameHint.ACCOUNT]))
    return (is_key or _has(words, _TERMS[NameHint.OFFICIAL])) and not names_a_feature(name)
